/** fanout: one change to 10,000 monitors at a time, published: deliveries stored in a second, and the memory it takes. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { changeAt } from './bodies.ts';
import { inFolder } from './daemon.ts';
import { median, report, round } from './measure.ts';

const MONITORS = 10_000;
const CHANGES = 10;
const AIM_MS = 1_000;
const MIB = 1024 * 1024;

await inFolder(async (folder) => {
  const store = await openStore(join(folder, 'fanout.db'));
  const secrets = openSecrets(randomBytes(32));
  await store.write(async (tx) => {
    for (let at = 0; at < MONITORS; at++) {
      const url = `https://hooks.example.com/${at}`;
      await createMonitor(tx, { name: url, url, target: 'all' }, { secrets, now: Date.now() });
    }
  });
  const companies = { first: 20_000_000, step: 1, count: CHANGES };
  const times: number[] = [];
  const before = process.memoryUsage.rss();
  let peak = before;
  for (let at = 0; at < CHANGES; at++) {
    const began = performance.now();
    await store.write((tx) => publish(tx, [changeAt(companies, at)], { now: Date.now() }));
    // The first one warms up.
    if (at > 0) times.push(performance.now() - began);
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  const stored = await store.db
    .selectFrom('delivery')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  if (stored.rows !== MONITORS * CHANGES) throw new Error(`${stored.rows} deliveries are stored`);
  await store.close();
  const ms = median(times);
  const measured = {
    deliveriesPerSecond: round((MONITORS * 1_000) / ms),
    msPerChange: round(ms),
    grownMb: round((peak - before) / MIB),
    rssMb: round(peak / MIB),
  };
  report('fanout', measured, { msPerChange: AIM_MS }, ms < AIM_MS);
});
