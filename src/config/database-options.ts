import type { Config } from './settings.ts';

/** How this configuration reaches its database, as `openDatabase` takes it. */
export function databaseOptions(config: Config) {
  return {
    ...(config.database.url === null ? {} : { databaseUrl: config.database.url }),
    ...(config.database.directUrl === null ? {} : { directUrl: config.database.directUrl }),
    ...(config.data.dir === null ? {} : { dataDir: config.data.dir }),
    maxConnections: config.database.connections,
  };
}
