export {
  checkSourceUrl,
  createSource,
  findSourceByUrl,
  type IngestionMode,
  listSources,
  loadSources,
  type NewSource,
  type Source,
  type SourceSettings,
  saveIngestionMode,
  saveRespectRobots,
  slugOf,
} from './sources.ts';
