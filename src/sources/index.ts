export {
  insertSources,
  loadSourcesByUrl,
  type NewListedSource,
  updateListedSources,
} from './bulk.ts';
export {
  applyHolds,
  deleteSource,
  requireSource,
  type SourceAct,
  setSourceEnabled,
  sweepDisabled,
  unknownSource,
} from './operate.ts';
export {
  checkSourceUrl,
  createSource,
  findSourceBySlug,
  findSourceByUrl,
  type ImageMode,
  type IngestionMode,
  listSources,
  loadSources,
  type NewSource,
  removeEmptySource,
  type Source,
  type SourceChange,
  type SourceSettings,
  saveIngestionMode,
  saveRespectRobots,
  slugOf,
  updateSource,
} from './sources.ts';
