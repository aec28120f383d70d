import { AppError, EXIT } from '../errors/index.ts';
import { type UrlKind, urlStatuses } from '../frontier/index.ts';
import { canonicalDomain } from '../url/index.ts';
import type { Query } from './api.ts';

/** What URLs of the frontier may have in common, as options name it. */
export type UrlFlags = { domain?: string; status?: string; kind?: UrlKind; reason?: string };

/** Reads them; what cannot be meant is refused before anything is asked. */
export function urlQueryOf(flags: UrlFlags): Query {
  if (flags.domain !== undefined && canonicalDomain(flags.domain) === null)
    throw new AppError('usage', `"${flags.domain}" is not a domain`, { exitCode: EXIT.usage });
  const words = flags.status?.split(',').map((word) => word.trim());
  const wrong = words?.find((word) => !(urlStatuses as readonly string[]).includes(word));
  if (wrong !== undefined)
    throw new AppError('usage', `"${wrong}" is not a status`, {
      exitCode: EXIT.usage,
      advice: `Known: ${urlStatuses.join(', ')}.`,
    });
  return {
    domain: flags.domain,
    status: words?.join(','),
    ...(flags.kind === undefined ? {} : { kind: flags.kind }),
    reason: flags.reason,
  };
}
