export { databaseOptions } from './database-options.ts';
export { type DumpLine, dumpConfig, renderEnvExample, renderReference, userAgentOf } from './describe.ts';
export {
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
  type Origin,
  originsOf,
  suggestion,
} from './load.ts';
export { type Config, listSettings } from './settings.ts';
