import { AppError, messageOf } from '../errors/index.ts';

/** How a check ended: all is well, somebody should look, or something does not work. */
export type CheckState = 'ok' | 'warn' | 'fail';

/** What one check found, in words; `advice` says what to do about it. */
export type Finding = { name: string; state: CheckState; sentence: string; advice: string | null };

/** What a check answers; several where it looks at several things. */
export type CheckResult = Omit<Finding, 'name'>;

/** A check: a name and a look that may fail or hang without harm to the others. */
export type Check = { name: string; look: () => Promise<CheckResult | CheckResult[]> };

/** All is well. */
export const ok = (sentence: string): CheckResult => ({ state: 'ok', sentence, advice: null });

/** Somebody should look at it. */
export const warn = (sentence: string, advice: string): CheckResult => ({ state: 'warn', sentence, advice });

/** It does not work. */
export const fail = (sentence: string, advice: string): CheckResult => ({ state: 'fail', sentence, advice });

/**
 * Runs a check within a time. Whatever it throws is a finding: a person asks for a diagnosis when things are broken, so
 * a broken check must not keep the others from being told.
 */
export async function runCheck({ name, look }: Check, timeoutMs: number): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(
      () => resolve(fail(`There was no answer within ${timeoutMs / 1000} s.`, 'Try again; what is slow?')),
      timeoutMs,
    );
  });
  try {
    const results = await Promise.race([look(), late]);
    return [results].flat().map((one) => ({ name, ...one }));
  } catch (error) {
    const advice = (error instanceof AppError ? error.advice : undefined) ?? 'Mend this first.';
    return [{ name, ...fail(messageOf(error), advice) }];
  } finally {
    clearTimeout(timer);
  }
}
