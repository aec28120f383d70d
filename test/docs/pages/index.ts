import { renderEnvExample, renderReference } from '../../../src/config/index.ts';
import type { Database } from '../../../src/db/index.ts';
import { renderApi } from './api.ts';
import { renderCommandLine } from './command-line.ts';
import { renderMetrics } from './metrics.ts';
import { renderOutcomes } from './outcomes.ts';

/** Every file that is made from code, by its path. The API says what it is only on a database. */
export async function renderPages(database: Database): Promise<Record<string, string>> {
  return {
    'docs/reference/configuration.md': renderReference(),
    '.env.example': renderEnvExample(),
    'docs/reference/command-line.md': await renderCommandLine(),
    'docs/reference/api.md': await renderApi(database),
    'docs/reference/metrics.md': renderMetrics(),
    'docs/reference/outcomes.md': renderOutcomes(),
  };
}
