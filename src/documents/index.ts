export { type Cluster, type ClusterMember, loadCluster } from './clusters.ts';
export { type DocumentRecord, hasBacklog, removeSink, saveSink, takeDeliveries } from './deliveries.ts';
export { indexDocuments } from './index-documents.ts';
export { removeDocuments } from './remove.ts';
export { type DocumentHit, listRecentDocuments, searchDocuments } from './search.ts';
export { loadSelectorRates, type SelectorRate } from './selector-rates.ts';
