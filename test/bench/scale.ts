/**
 * scale: events taken and applied in a second with 1,000,000 links, against 10,000. Each event is about another company
 * within its round; the account is paused, so that no CRM is part of what is measured.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openChild } from './child.ts';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import type { verbs as Load } from './load.ts';
import { median, report, round, spread } from './measure.ts';
import { drained, withManyLinks } from './store.ts';

const SMALL = 10_000;
const LARGE = 1_000_000;
const EVENTS = 10_000;
const ROUNDS = 5;
const FIRST = 20_000_000;
const AIM = 0.95;
const PROVIDERS = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };

await inFolder(async (folder) => {
  const load = openChild<typeof Load>('./load.ts');
  const open = async (links: number) => {
    const own = join(folder, String(links));
    await mkdir(own);
    await settleMapping(own, PROVIDERS);
    await withManyLinks(own, 'hubspot', links, FIRST);
    const daemon = await startDaemon(own, PROVIDERS);
    const run = async (at: number): Promise<number> => {
      // Spread over all companies, others in every round if there are others.
      const companies = { first: FIRST + (at % (links / EVENTS)), step: links / EVENTS, count: EVENTS };
      await load.ask('prepare', { companies, from: at * EVENTS, count: EVENTS });
      const began = performance.now();
      const target = { origin: daemon.origin, path: '/webhook' };
      const { failed } = await load.ask('flood', { target, connections: 64 });
      if (failed > 0) throw new Error(`${failed} events were not taken`);
      await drained(own);
      return (EVENTS * 1_000) / (performance.now() - began);
    };
    return { run, daemon };
  };
  const small = await open(SMALL);
  const large = await open(LARGE);
  const runs: { small: number[]; large: number[] } = { small: [], large: [] };
  // The first round warms both up and is not counted.
  for (let at = 0; at <= ROUNDS; at++) {
    const [ofSmall, ofLarge] = [await small.run(at), await large.run(at)];
    if (at === 0) continue;
    runs.small.push(ofSmall);
    runs.large.push(ofLarge);
  }
  await Promise.all([load.close(), small.daemon.stop(), large.daemon.stop()]);
  const ratios = spread(runs.large.map((of, at) => of / (runs.small[at] ?? of)));
  const measured = {
    ...ratios,
    eventsPerSecond: { [SMALL]: round(median(runs.small)), [LARGE]: round(median(runs.large)) },
  };
  report('scale', measured, { ratio: AIM }, ratios.ratio >= AIM);
});
