import { userInfo } from 'node:os';
import type { Overruled } from '../domains/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { isRenderPool } from '../frontier/index.ts';

/** Who gives the orders, as events and the audit name them. */
export function operatorName(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // A container may run as a number that no user has.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Reads on or off. */
export function onOff(text: string): boolean {
  if (text === 'on') return true;
  if (text === 'off') return false;
  throw new AppError('usage', `"${text}" is neither on nor off`, { exitCode: EXIT.usage });
}

/** Reads the name of a group of fetchers. */
export function poolName(text: string, option = '--pool'): string {
  if (isRenderPool(text))
    throw new AppError('usage', '"render" is the name of those who have a browser', { exitCode: EXIT.usage });
  if (/^[a-z0-9_-]{1,40}$/.test(text)) return text;
  throw new AppError('usage', `${option} takes a short name of a-z, 0-9, - and _, not "${text}"`, {
    exitCode: EXIT.usage,
  });
}

/** What is said when a source's group takes the place of another source's. */
export const overruledLines = (overruled: readonly Overruled[]): string[] =>
  overruled.map(
    ({ domain, source, group }) =>
      `${domain} was in the group "${group}" for the source ${source}; the later one holds.`,
  );
