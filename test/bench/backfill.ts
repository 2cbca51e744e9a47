/**
 * backfill: records scanned in a second over what the CRM's list limit allows; resident memory while 250,000 records are
 * scanned, judged and linked, in the first half of that time and in the second. Of the built program, as in `idle`.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build, NUMBER, startBackfill } from './backfiller.ts';
import { openChild } from './child.ts';
import type { verbs as Crm } from './crm.ts';
import { inFolder } from './daemon.ts';
import { median, report, round } from './measure.ts';

/** https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines */
const HUBSPOT = { calls: 190, perMs: 10_000 };
const UNLIMITED = { calls: 100_000, perMs: 10_000 };
const PAGE = 100;
const PACED = 20_000;
const MANY = 250_000;
const AIM = { ratio: 0.9, rssMb: 200, growthMb: 20 };

build();
await inFolder(async (folder) => {
  const open = async (name: string, rate: typeof HUBSPOT, records: number) => {
    const crm = openChild<typeof Crm>('./crm.ts');
    const { settings } = await crm.ask('start', {
      name: 'hubspot',
      rate,
      records,
      numbered: { property: NUMBER },
    });
    const own = join(folder, name);
    await mkdir(own);
    return { crm, settings, own };
  };
  const paced = await open('paced', HUBSPOT, PACED);
  await startBackfill(paced.own, paced.settings, ['--dry-run']).ended;
  const { pages, first, last, refused } = await paced.crm.ask('scans', undefined);
  await paced.crm.close();
  const perSecond = ((pages - 1) * PAGE * 1_000) / (last - first);
  const ratio = perSecond / ((HUBSPOT.calls * PAGE * 1_000) / HUBSPOT.perMs);

  const many = await open('many', UNLIMITED, MANY);
  const began = performance.now();
  const run = startBackfill(many.own, many.settings, []);
  const { linked } = await run.ended;
  const seconds = (performance.now() - began) / 1_000;
  await many.crm.close();
  const [early, late] = [run.rss.slice(0, run.rss.length / 2), run.rss.slice(run.rss.length / 2)];
  const rssMb = Math.max(...run.rss);
  const growthMb = median(late) - median(early);
  const measured = {
    ratio: round(ratio, 3),
    recordsPerSecond: round(perSecond),
    refused,
    rssMb: round(rssMb, 1),
    growthMb: round(growthMb, 1),
    linked,
    linkedPerSecondUnpaced: round(linked / seconds),
  };
  const ok = ratio >= AIM.ratio && rssMb < AIM.rssMb && growthMb < AIM.growthMb && linked === MANY && refused === 0;
  report('backfill', measured, AIM, ok);
});
