import { AppError, EXIT } from '../errors/index.ts';
import type { ApiAnswer } from './api.ts';

type Problem = { code: string; detail: string; advice?: string };

const most = 1000;

function readProblem(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { code, detail, advice } = value as Record<string, unknown>;
    if (typeof code !== 'string' || typeof detail !== 'string') return null;
    return {
      code: code.slice(0, 100),
      detail: detail.slice(0, most),
      ...(typeof advice === 'string' ? { advice: advice.slice(0, most) } : {}),
    };
  } catch {
    // Not one of ours: a proxy's page, perhaps.
    return null;
  }
}

/** What an answer that is no success means, as the error a person meets. `server` is null inside this process. */
export function problemOf(answer: ApiAnswer, server: string | null): AppError {
  const problem = readProblem(answer.text);
  const { status } = answer;
  const where = server ?? 'the API';
  if (problem === null)
    return new AppError('server_foreign', `${where} answered ${status} with something that is not ours`, {
      exitCode: EXIT.server,
      httpStatus: status,
      advice:
        status >= 300 && status < 400
          ? `It points to ${(answer.headers.location ?? 'another address').slice(0, 200)}: give that to --server if you trust it.`
          : 'Is --server the address of an Outrider, without a path, and is no proxy in between?',
    });
  const advice = problem.advice ?? adviceOf(answer);
  return new AppError(problem.code, problem.detail, {
    httpStatus: status,
    retry: status === 429 || status === 503,
    exitCode: exitCodeOf(status, problem.code),
    ...(advice === undefined ? {} : { advice }),
  });
}

function exitCodeOf(status: number, code: string): number {
  if (code.startsWith('db_')) return EXIT.database;
  // The caller's mistake: a name that there is not, a value that cannot be.
  return status === 400 || status === 404 || status === 422 ? EXIT.usage : EXIT.failed;
}

function adviceOf({ status, headers }: ApiAnswer): string | undefined {
  if (status === 401)
    return 'Give a token with OUTRIDER_TOKEN or --token; "outrider token create" on the server makes one.';
  if (status === 403) return 'The token may not do this: ask for one with the role write or admin.';
  if (status === 421)
    return 'Use the name the server is known by, or add this one to the names it answers to.';
  if (status === 429) {
    const seconds = headers['retry-after'];
    return /^\d{1,6}$/.test(seconds ?? '') ? `Try again in ${seconds} s.` : 'Try again a little later.';
  }
  return status >= 500 ? "The server's log says more." : undefined;
}
