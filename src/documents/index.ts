export { indexDocuments } from './index-documents.ts';
export { type DocumentHit, listRecentDocuments, searchDocuments } from './search.ts';
