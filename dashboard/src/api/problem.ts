/** An answer that says what went wrong, in words that can be shown. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly advice: string | null;
  /** What the button does that is shown beside it. */
  readonly remedy: string;

  constructor(options: {
    status: number;
    code: string;
    detail: string;
    advice?: string | null;
    remedy?: string;
  }) {
    super(options.detail);
    this.status = options.status;
    this.code = options.code;
    this.advice = options.advice ?? null;
    this.remedy = options.remedy ?? 'Try again';
  }
}

/** Whatever was thrown, as a problem. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({
    status: 0,
    code: 'unreachable',
    detail: 'The server does not answer.',
    advice: 'Is "outrider up" running? It is asked again as soon as it answers.',
  });
}

/** Of a list whose address was written by hand, or by another version: the server's words are about parameters. */
export const filterProblem = ({ status, code, message }: Problem): Problem =>
  new Problem({
    status,
    code,
    detail: 'The address of this page has a filter or an order that this list does not know.',
    advice: `The server says: ${message}.`,
    remedy: 'Clear the filters',
  });

/** A problem and what to do about it, as one text. */
export function problemText({ message, advice }: Pick<Problem, 'message' | 'advice'>): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return advice === null ? sentence : `${sentence} ${advice}`;
}

/** Reads the problem of an answer that is no success. */
export async function readProblem(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const { code, detail, title, advice } = (body ?? {}) as Record<string, unknown>;
  const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
  return new Problem({
    status: response.status,
    code: text(code) ?? `http_${response.status}`,
    detail: text(detail) ?? text(title) ?? `The server answered ${response.status}.`,
    advice: text(advice),
  });
}
