export { type ArchiveClues, type ArchivePlace, type Remembered, thinkOfPlaces } from './candidates.ts';
export {
  decideLook,
  judgeKnown,
  judgePage,
  judgeSitemap,
  judgeUnasked,
  type LookDecision,
  mostPlacesPerDay,
  type SitemapPoll,
} from './decide.ts';
export { loadPlaceHash } from './hash-places.ts';
export {
  type ArchiveDomain,
  type ArchiveEnd,
  type ArchiveFacts,
  type ArchiveKey,
  type ArchiveTry,
  enterArchiveDomains,
  type HashedPlace,
  leaveArchiveDomain,
  listArchiveTries,
  loadArchiveDomain,
  loadArchiveFacts,
  saveEnds,
  saveNextLook,
  takeDueArchives,
  takePlaces,
} from './memory.ts';
export { loadPageRows, type PageRow, sampleArticles } from './rows.ts';
