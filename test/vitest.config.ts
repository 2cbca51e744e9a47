import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { LeftOut } from './support/left-out.ts';
import { Order } from './support/order.ts';
import { Slowest } from './support/slowest.ts';

/** Tests that look at what their process has loaded. */
const ALONE = ['test/providers/hubspot/lazy.test.ts'];
const BENCHES = 'test/bench/**';

/** For the threads and processes of a run: half of what one takes to start is stripping types and compiling. */
process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '../node_modules/.cache/cvrsync-compiled');

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    // For a machine that does other work too; what a test awaits has its own limits.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    // What is awaited comes when it comes: the default, a second, is short for a busy machine.
    expect: { poll: { timeout: 120_000 } },
    retry: 0,
    // What the provider of single sign-on says to those who would run it for real.
    onConsoleLog: (text) => !text.startsWith('oidc-provider '),
    // Two for each core of CI: many tests wait for a process, a time-out or a pause. More take the time of each other.
    maxWorkers: 4,
    sequence: { sequencer: Order },
    reporters: ['default', new Slowest(), new LeftOut()],
    globalSetup: ['outside', 'memory', 'postgres', 'templates', 'statements'].map(
      (name) => `test/support/${name}-global.ts`,
    ),
    projects: [
      {
        extends: true,
        // Loading our files anew for every test file took a third of the time.
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [BENCHES, ...ALONE],
          isolate: false,
          setupFiles: ['test/support/seed-setup.ts', 'test/support/statements-setup.ts'],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
