/**
 * weekly-files: the first load of all companies from the weekly files of Datafordeler, from the list of files to
 * snapshots on disk: minutes, and the most memory of the process that loads. The files are invented, and written before.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openChild } from './child.ts';
import { FLAGS, inFolder } from './daemon.ts';
import { report, round } from './measure.ts';
import type { verbs as Loader } from './weekly-loader.ts';
import type { verbs as Register } from './weekly-register.ts';

const COMPANIES = Number(process.env['CVRSYNC_BENCH_COMPANIES'] ?? 900_000);
const AIM = { minutes: 15, rssMb: 300 };
/** A production unit of its own for every third company: the others share its address. */
const UNIT_EVERY = 3;

await inFolder(async (folder) => {
  const register = openChild<typeof Register>('./weekly-register.ts');
  const files = join(folder, 'served');
  await mkdir(files);
  const { url, mb } = await register.ask('serve', { folder: files, companies: COMPANIES, unitEvery: UNIT_EVERY });
  const loader = openChild<typeof Loader>('./weekly-loader.ts', FLAGS);
  const place = { url, folder: join(folder, 'files'), store: join(folder, 'cvrsync.db') };
  const { ms, sortedMs, cpuMs, rssMb, documents } = await loader.ask('load', place);
  await Promise.all([loader.close(), register.close()]);
  const measured = {
    ...{ companies: COMPANIES, documents, filesMb: round(mb) },
    ...{ minutes: round(ms / 60_000, 1), minutesToSort: round(sortedMs / 60_000, 1) },
    ...{
      cpuMinutes: round(cpuMs / 60_000, 1),
      documentsPerSecond: round((documents * 1_000) / ms),
      rssMb: round(rssMb),
    },
  };
  report('weekly-files', measured, AIM, ms < AIM.minutes * 60_000 && rssMb < AIM.rssMb);
});
