/**
 * Loaded into a daemon before it starts (`node --import`): at each SIGUSR2 it writes which functions of the program ran since
 * the signal before, to the next file of `CVRSYNC_BENCH_COVERAGE`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let taken = 0;
process.on('SIGUSR2', () =>
  session.post('Profiler.takePreciseCoverage', (_error, taking) => {
    const scripts = (taking?.result ?? []).flatMap(({ url, functions }) => {
      const [file] = /(?:src|providers)\/(?!.*node_modules).*\.[tj]s$/.exec(url) ?? [];
      // The first range is the function itself. A module's own code has no name either, and ran when it was loaded.
      const ran = functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0 && whole?.startOffset !== 0);
      return file === undefined
        ? []
        : [[file, ran.map(({ functionName, ranges: [whole] }) => `${functionName}@${whole?.startOffset}`)] as const];
    });
    const file = `${process.env['CVRSYNC_BENCH_COVERAGE']}.${taken++}.json`;
    writeFileSync(`${file}.part`, JSON.stringify(Object.fromEntries(scripts)));
    renameSync(`${file}.part`, file);
  }),
);
