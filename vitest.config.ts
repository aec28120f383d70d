import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // A worker keeps its modules from file to file: loading them anew for each took a third of the whole run. So a test
    // leaves nothing behind in its process: no environment, no listeners, no faked clock.
    isolate: false,
    // Two cores in CI: more workers only make real processes and the real server wait for each other.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
