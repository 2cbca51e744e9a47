import { defineConfig } from 'vitest/config';
import { fastTestFiles } from './support/fast-files.ts';
import whole from './vitest.config.ts';

const { projects: _, ...common } = whole.test ?? {};

/** `npm run test:fast`: the files that start no process and open no store, many to a worker. */
export default defineConfig({
  test: {
    ...common,
    include: fastTestFiles(),
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    globalSetup: ['test/support/outside-global.ts'],
    setupFiles: ['test/support/seed-setup.ts'],
  },
});
