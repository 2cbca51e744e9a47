import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is awaited comes when it comes: the default, a second, is short for a busy machine.
    expect: { poll: { timeout: 15_000 } },
    retry: 0,
    // Loading our files anew for every test file took a third of the time.
    isolate: false,
    // One more than CI has cores: many tests wait for a process or a pause.
    maxWorkers: 3,
    globalSetup: ['outside', 'postgres', 'templates'].map((name) => `test/support/${name}-global.ts`),
  },
});
