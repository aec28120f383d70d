import type { Queryable } from '../db/index.ts';
import { loadHostRules } from '../frontier/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';
import type { ArchivePlace } from './candidates.ts';
import type { ArchiveKey, HashedPlace } from './memory.ts';

/**
 * What places of a domain are known by, as the rows and channels they become: null for no address that could be fetched,
 * or one of another domain where only pages may be asked.
 */
export async function loadPlaceHash(
  db: Queryable,
  domain: ArchiveKey,
): Promise<(place: ArchivePlace) => HashedPlace | null> {
  const rules = await loadHostRules(db);
  return (place) => {
    const identified = identifyUrl(place.url, { rules });
    if (identified.outcome === 'rejected') return null;
    const { identity } = identified;
    if (place.kind === 'sitemap')
      return { ...place, url: identity.fetchUrl, hash: channelHash(identity.fetchUrl) };
    if (identity.domainKey !== domain.domainKey) return null;
    return { ...place, url: identity.fetchUrl, hash: identity.hash };
  };
}
