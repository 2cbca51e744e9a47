/**
 * Two daemons on one PostgreSQL, of which one after the other is frozen (SIGSTOP) for longer than its lease while events
 * come: every property ends with the register's newest value, and history says how it came there.
 *
 * CVRSYNC_CHAOS_FREEZES=50 has so many; the suite has two, one for each daemon.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type Daemon, daemonWith } from '../support/daemon.ts';
import { type Crms, configFor, lanesBehind, startCrms, watchStore } from '../support/fixture.ts';
import { historyLines } from '../support/history.ts';
import { newStoreUrl } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { foldSamples } from './fold.ts';
import { addRecords, type CrmRecord, differences } from './records.ts';
import { NIGHT, SEED, sizeOf } from './settings.ts';
import { samplesFor, sendAll, shuffledMessages } from './storm.ts';

const FREEZES = sizeOf('FREEZES', 2, 6);
const COMPANIES = 12;
const CHANGES = 12 * FREEZES;
const LEASE_SECONDS = 5;
const MINUTES = 60_000;

test.runIf(NIGHT)(
  `${FREEZES} freezes beyond the lease, CVRSYNC_CHAOS_SEED=${SEED}`,
  { timeout: 30 * MINUTES },
  async () => {
    const random = randomFrom(SEED);
    const samples = samplesFor(SEED, COMPANIES, CHANGES);
    const messages = shuffledMessages(samples, random);
    // So few calls a second that most claims wait for the rate limiter: there they are frozen.
    const rate = { calls: 12, perMs: 1_000 };
    const crms = await startCrms({ hubspot: { rate }, salesforce: { rate } });
    const url = await newStoreUrl('postgres');
    const records = addRecords(crms, sampleCompanies(SEED, COMPANIES), random);
    await linkAll(url, records);
    const config = configFor(crms, url, { leaseSeconds: LEASE_SECONDS });
    const daemons = await Promise.all([daemonWith(config), daemonWith(config)]);
    for (const daemon of daemons) await daemon.start();
    const store = await watchStore(url);

    let frozen: Daemon | undefined;
    let freezes = 0;
    let acked = 0;
    const allowed = () => ((freezes + 1) * messages.length) / FREEZES;
    const awake = () => daemons.find((daemon) => daemon !== frozen)?.url;
    const sending = sendAll(
      messages,
      // Some events for each freeze, to the daemon that is awake.
      () => (acked < allowed() ? awake() : undefined),
      () => {
        acked += 1;
      },
    );
    for (; freezes < FREEZES; freezes += 1) {
      await work(store);
      await sleep(random.int(0, 150));
      frozen = daemons[freezes % 2];
      frozen?.signal('SIGSTOP');
      const before = writesTo(crms);
      await sleep(LEASE_SECONDS * 1_000 + 200);
      // The other takes over, and writes.
      await progress(() => writesTo(crms) > before);
      frozen?.signal('SIGCONT');
      frozen = undefined;
    }
    await sending;
    await untilNone(() => lanesBehind(store));

    expect(differences(crms, records, foldSamples(samples))).toEqual([]);
    expect(await untrue(store, crms)).toEqual([]);
    const lost = daemons.flatMap(({ log }) => log.filter((line) => line.includes('process froze')));
    const sent = lost.filter((line) => line.includes('sent what'));
    process.stderr.write(`${FREEZES} freezes: ${lost.length} lost leases, ${sent.length} of them had sent something\n`);
    for (const daemon of daemons) expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  },
);

async function linkAll(url: string, records: readonly CrmRecord[]): Promise<void> {
  const store = await openStore(url);
  await store.write(async (tx) => {
    for (const { crm, id, entity } of records)
      await linkRecord(tx, { provider: crm, recordId: id, entity, sendUpdate: false, now: Date.now() });
  });
  await store.close();
}

/** Resolves while a daemon has a record in its hands, or when nothing happens for a while. */
async function work(store: Store): Promise<void> {
  await progress(async () => {
    const claimed = await store.db
      .selectFrom('lane')
      .select('key')
      .where('queue', 'like', 'sync:%')
      .where('fence', 'is not', null)
      .executeTakeFirst();
    return claimed !== undefined;
  });
}

async function progress(seen: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 150 && !(await seen()); tries += 1) await sleep(10);
}

const writesTo = ({ hubspot, salesforce }: Crms): number => hubspot.calls.length + salesforce.calls.length;

/** Where the newest line of history that wrote a property is not what the CRM holds there. */
async function untrue(store: Store, crms: Crms): Promise<readonly string[]> {
  const written = (await historyLines(store.db)).filter(({ outcome }) => outcome === 'written');
  const last = new Map(written.map((line) => [`${line.provider} ${line.record_id} ${line.property}`, line]));
  return [...last.values()].flatMap(({ provider, record_id, property, now }) => {
    const held = crms[provider === 'hubspot' ? 'hubspot' : 'salesforce'].get(record_id)?.[property ?? ''];
    return spelt(held) === spelt(now)
      ? []
      : [`${provider} ${record_id} ${property} holds ${String(held)}, and history says ${String(now)}`];
  });
}

/** CRMs spell numbers, phones, addresses and times in their own way. */
const spelt = (value: unknown): string => {
  const text = String(value ?? '');
  const time = Date.parse(text);
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(time)) return String(Math.floor(time / 1_000));
  return text
    .toLowerCase()
    .replace(/^https?:\/\/|\/$/g, '')
    .replace(/[\s+]/g, '');
};
