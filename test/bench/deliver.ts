/**
 * deliver: signed deliveries whose outcome is on disk, against a bare undici loop that posts the same bodies with as many
 * at a time, to a receiver in another process; and what one hanging webhook of 50 costs the others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openChild } from './child.ts';
import { FLAGS, inFolder } from './daemon.ts';
import type { verbs as Hooks } from './hooks.ts';
import { median, quantile, report, round, spread } from './measure.ts';
import type { verbs as Poster } from './poster.ts';

const ROUNDS = 5;
const MONITORS = 8;
const CONCURRENCY = 8;
/** So many that a round takes seconds: its beginning and its end are no steady work. */
const CHANGES = 4_000;
const MANY = 50;
const PAIRS = 8;
const AIM = { ratio: 0.45, p99Rise: 0.1 };
const WARMUP = { changes: 10, perSecond: 15 };
const DRIP = { changes: 40, perSecond: 15 };

await inFolder(async (folder) => {
  const hooks = openChild<typeof Hooks>('./hooks.ts');
  const poster = openChild<typeof Poster>('./poster.ts', FLAGS);
  const origin = await hooks.ask('start', undefined);
  const posts = MONITORS * CHANGES;
  const counted = async (ms: number): Promise<number> => {
    const { posts: seen } = await hooks.ask('seen', undefined);
    if (seen !== posts) throw new Error(`${seen} posts came in, ${posts} should`);
    return (posts * 1_000) / ms;
  };

  await poster.ask('open', { folder, origin, monitors: MONITORS });
  const rates: { ours: number; bare: number }[] = [];
  // The first round warms both up and is not counted.
  for (let at = 0; at <= ROUNDS; at++) {
    await hooks.ask('begin', { hang: '', time: false });
    const flight = MONITORS * CONCURRENCY;
    const bare = await counted(await poster.ask('bare', { origin, paths: MONITORS, changes: CHANGES, flight }));
    await poster.ask('prepare', CHANGES);
    await hooks.ask('begin', { hang: '', time: false });
    const ours = await counted(await poster.ask('drain', CONCURRENCY));
    if (at > 0) rates.push({ ours, bare });
  }

  await poster.ask('open', { folder, origin, monitors: MANY });
  /** When the posts of these companies came to all webhooks but the first; gives up where for long none comes. */
  const timesOf = async (entities: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const keys = entities.flatMap((entity) => Array.from({ length: MANY - 1 }, (_, at) => `/${at + 1} ${entity}`));
    for (let [last, idle] = [0, 0]; ; idle++) {
      const { times } = await hooks.ask('seen', undefined);
      if (keys.every((key) => times.has(key))) return times;
      if (times.size > last) [last, idle] = [times.size, 0];
      if (idle > 100) throw new Error(`${keys.filter((key) => !times.has(key)).length} posts did not come in`);
      await sleep(100);
    }
  };
  /** Ms from each commit to its posts to all webhooks but the first. */
  const waits = async (hang: string): Promise<{ p50: number; p99: number }> => {
    await hooks.ask('begin', { hang, time: true });
    await poster.ask('start', CONCURRENCY);
    await poster.ask('drip', WARMUP);
    const sent = await poster.ask('drip', DRIP);
    const times = await timesOf([...sent.keys()]);
    await poster.ask('stop', undefined);
    const all: number[] = [];
    for (const [entity, at] of sent)
      for (let hook = 1; hook < MANY; hook++) all.push((times.get(`/${hook} ${entity}`) ?? 0) - at);
    return { p50: median(all), p99: quantile(all, 0.99) };
  };
  const drips: { hang: string; p50: number; p99: number }[] = [];
  // Either goes first every other time. The median of the drips: one hiccup of the disk is the p99 of its drip.
  for (let at = 0; at < PAIRS; at++)
    for (const hang of at % 2 === 0 ? ['', '/0'] : ['/0', '']) drips.push({ hang, ...(await waits(hang)) });
  await Promise.all([hooks.close(), poster.close()]);

  const ratios = spread(rates.map(({ ours, bare }) => ours / bare));
  const of = (name: 'p50' | 'p99', hang: string) =>
    median(drips.filter((drip) => drip.hang === hang).map((drip) => drip[name]));
  const [alone, beside] = [of('p99', ''), of('p99', '/0')];
  const rise = beside / alone - 1;
  const measured = {
    ...ratios,
    deliveriesPerSecond: round(median(rates.map(({ ours }) => ours))),
    barePerSecond: round(median(rates.map(({ bare }) => bare))),
    p50Ms: { allWell: round(of('p50', ''), 1), oneHangs: round(of('p50', '/0'), 1) },
    p99Ms: { allWell: round(alone, 1), oneHangs: round(beside, 1) },
    p99Rise: round(rise, 3),
  };
  report('deliver', measured, AIM, ratios.ratio >= AIM.ratio && rise < AIM.p99Rise);
});
