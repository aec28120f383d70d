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
  slugOf,
} from './sources.ts';
