export {
  type ChangePlace,
  type DocumentChange,
  hasChangesSince,
  loadChanges,
  loadLastPlace,
  pruneChanges,
} from './changes.ts';
export { type Cluster, type ClusterMember, loadCluster } from './clusters.ts';
export { isCopyOf } from './held.ts';
export {
  type DocumentVersion,
  loadSightings,
  loadVersions,
  loadVersionText,
  type Sighting,
} from './history.ts';
export { type IndexedBatch, indexBatch } from './index-batch.ts';
export { indexDocuments } from './index-documents.ts';
export { type UnifiedDiff, unifiedDiff } from './line-diff.ts';
export { loadRawPage, type RawPage } from './raw-pages.ts';
export { removeArchivedPages, removeDocuments, removeSource } from './remove.ts';
export {
  type DocumentFilter,
  type DocumentHit,
  type DocumentPlace,
  listRecentDocuments,
  resolveFilter,
  searchDocuments,
} from './search.ts';
export { loadSelectorRates, type SelectorRate } from './selector-rates.ts';
export {
  type ClassificationStatus,
  type DocumentRecord,
  documentRecord,
  loadDocument,
  type StoredDocument,
  storedColumns,
} from './stored.ts';
export { saveVerdicts, type Verdict, type VerdictOutcome } from './verdicts.ts';
