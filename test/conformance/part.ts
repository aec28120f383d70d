import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A case that came out wrong, for the failures file. */
export type Failure = { part: string; case: string; expected: unknown; got: unknown };

/** What a part may use. */
export type PartOptions = {
  /** Takes a failing case. */
  fail(failure: Failure): void;
  /** Says on stderr what is being done. */
  progress(text: string): void;
};

/** One part of the run: scores by name, or null where the corpus lacks its data. */
export type Part = {
  name: string;
  run(corpusDir: string, options: PartOptions): Promise<Record<string, object> | null>;
};

/** A JSON file of the corpus, or null where it is missing; the caller names its shape. */
export function loadJson<T>(...path: string[]): T | null {
  const file = join(...path);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : null;
}

/** Runs one case; an exception is a failure of the case, not of the run. */
export async function attempt<T>(run: () => T | Promise<T>): Promise<{ value: T } | { threw: string }> {
  try {
    return { value: await run() };
  } catch (error) {
    return { threw: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** Addresses compare after serialising, as the corpus asks. */
export function hrefOf(text: string): string {
  return URL.canParse(text) ? new URL(text).href : text;
}
