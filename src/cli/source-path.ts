import { unknownSource } from '../sources/index.ts';

/** The route of a source. What can be no short name is said to be unknown, rather than to break a pattern. */
export function sourcePath(slug: string): string {
  if (!/^[a-z0-9_]{1,600}$/.test(slug)) throw unknownSource(slug);
  return `/api/v1/sources/${slug}`;
}
