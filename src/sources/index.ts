export {
  insertSources,
  loadSourcesByUrl,
  type NewListedSource,
  updateListedSources,
} from './bulk.ts';
export {
  checkSourceUrl,
  createSource,
  findSourceByUrl,
  type IngestionMode,
  listSources,
  loadSourceBySlug,
  loadSources,
  type NewSource,
  type Source,
  type SourceChange,
  type SourceSettings,
  saveIngestionMode,
  saveRespectRobots,
  saveSourceEnabled,
  slugOf,
  updateSource,
} from './sources.ts';
