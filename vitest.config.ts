import { defineConfig } from 'vitest/config';
import LongestFirst from './test/setup/longest-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    // A worker keeps its modules from file to file: loading them anew for each took a third of the whole run. So a test
    // leaves nothing behind in its process: no environment, no listeners, no faked clock.
    isolate: false,
    // One more than CI has cores: what waits for an outage or a browser leaves a fifth of them idle with two.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A second, as it comes, is too short for a browser on a busy machine.
    expect: { poll: { timeout: 15_000 } },
  },
});
