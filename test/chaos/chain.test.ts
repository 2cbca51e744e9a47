/** A register that grows, faults everywhere, and SIGKILLs: both CRMs and all who listen end with what the register says. */
import { randomBytes } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import type { Updates } from '../../src/protocol/payload.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { todayAt } from '../../src/service/register/document/today.ts';
import type { Store } from '../../src/store/open.ts';
import { daemonWith } from '../support/daemon.ts';
import { type Crms, configFor, startCrms } from '../support/fixture.ts';
import { emptyStoreUrl, newFolder, opened } from '../support/stores.ts';
import { type Last, plain } from './fold.ts';
import { addListeners, complaints, type Listener, openReceiver, toldTo } from './listeners.ts';
import { addRecords, type CrmRecord, differences, editSome, heldIn } from './records.ts';
import { appendAll, registerOf, saying, undisturbed } from './register.ts';
import { strikesOn } from './strikes.ts';
import { scriptFaults } from './weather.ts';

const seed = Number(process.env['CVRSYNC_CHAOS_SEED'] ?? Date.now() % 1_000_000);

/** Fewer than there are records to be linked late and changes to be written. */
const MOST_WRITTEN = 20;

interface Chain {
  readonly engine: 'sqlite' | 'postgres';
  readonly companies: number;
  readonly changes: number;
  readonly listeners: number;
  readonly faults: number;
  /** How often the daemon is struck while documents come, while listeners are told, and while records are written. */
  readonly strikes: { readonly reported: number; readonly posted: number; readonly written: number };
}

describe(`the chain, CVRSYNC_CHAOS_SEED=${seed}`, () => {
  test('on SQLite all end with what the register says, and nothing is told twice as two', () =>
    run({
      engine: 'sqlite',
      companies: 20,
      changes: 220,
      listeners: 200,
      faults: 5,
      strikes: { reported: 2, posted: 2, written: 1 },
    }));

  test('on PostgreSQL too', () =>
    run({
      engine: 'postgres',
      companies: 6,
      changes: 60,
      listeners: 20,
      faults: 1,
      strikes: { reported: 1, posted: 0, written: 1 },
    }));
});

async function run({ engine, companies, changes, listeners: count, faults, strikes: wanted }: Chain): Promise<void> {
  const random = randomFrom(seed);
  const register = registerOf(seed, companies, changes, random);
  const reference = undisturbed([...register.first, ...register.later], todayAt(Date.now()));
  const crms = await startCrms();
  const records = addRecords(crms, sampleCompanies(seed, companies), random);
  const url = await emptyStoreUrl(engine);
  const store = await opened(url);
  const key = randomBytes(32);
  const receiver = await openReceiver(randomFrom(seed + 1));
  const entities = [...register.companies.keys(), ...new Set(reference.map(({ entity }) => entity))];
  const listeners = await addListeners(store, openSecrets(key), receiver, { count, entities, random });

  const file = join(newFolder(), 'register.ndjson');
  await appendFile(file, '');
  const daemon = await daemonWith({
    ...configFor(crms, url, { leaseSeconds: 5 }),
    service: {
      register: { source: 'file', path: file, pollSeconds: 1 },
      webhooks: { allow: ['127.0.0.1'] },
      secretKey: key.toString('base64'),
      leaseSeconds: 5,
      requestsPerMinute: 10_000,
    },
  });
  await daemon.start();

  const expected = listeners.reduce((sum, listener) => sum + toldTo(listener, reference).length, 0);
  const times = (number: number, most: number) =>
    Array.from({ length: number }, () => random.int(Math.ceil(most / 10), Math.floor((most * 2) / 3))).sort(
      (a, b) => a - b,
    );
  const strikes = strikesOn(
    daemon,
    crms,
    {
      reported: times(wanted.reported, register.later.length),
      posted: times(wanted.posted, expected),
      written: times(wanted.written, MOST_WRITTEN),
    },
    (strike) => editSome(crms, records, random, strike),
  );

  // Records that hold what the register said first are linked, and written, before it says anything else.
  await appendAll(file, register.first, random, () => {});
  await expect.poll(() => unread(store, file), { timeout: 120_000, interval: 20 }).toBe(0);
  const late = records.filter((record) => !isNamed(crms, record));
  const early = records.filter((record) => !late.includes(record));
  await link(store, early);
  const waiting = () => early.filter((record) => plain('postalCode', heldIn(crms, record, 'postalCode')) === '');
  await expect.poll(waiting, { timeout: 120_000, interval: 20 }).toEqual([]);

  scriptFaults(crms, random, faults);
  for (const crm of [crms.hubspot, crms.salesforce]) crm.onWrite = () => strikes.count('written');
  receiver.onPost = () => strikes.count('posted');
  await appendAll(file, register.later, random, async (lines) => {
    await link(store, late.splice(0, random.int(0, 3)));
    strikes.count('reported', lines);
  });
  await link(store, late);
  await strikes.ended();
  await expect.poll(() => whatIsLeft(store, file), { timeout: 300_000, interval: 50 }).toEqual([]);
  await strikes.ended();
  expect(strikes.done).toBe(wanted.reported + wanted.posted + wanted.written);
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });

  const stored = await changesIn(store);
  expect(stored.map(({ entity, updates }) => saying(entity, updates)).sort()).toEqual(
    heard(reference, listeners)
      .map(({ entity, updates }) => saying(entity, updates))
      .sort(),
  );
  expect(complaints(listeners, receiver, stored)).toEqual([]);
  expect(await deliveriesLeft(store)).toEqual([]);
  const last = new Map(
    [...register.companies].map(([entity, company]): [string, Last] => [entity, { company, changedAt: '' }]),
  );
  expect(differences(crms, records, last, ['registerChangedAt'])).toEqual([]);
  // Whole states are dated by what the register touched last, whether or not that was a change.
  const tooOld = records.filter((record) => {
    const held = plain('registerChangedAt', heldIn(crms, record, 'registerChangedAt'));
    return stored.some(({ entity, timestamp }) => entity === record.entity && held < timestamp.slice(0, 19));
  });
  expect(tooOld).toEqual([]);
  expect([...crms.hubspot.calls, ...crms.salesforce.calls].filter(({ status }) => status === 429)).toEqual([]);
}

/** Whether it holds a name that is the register's. */
const isNamed = (crms: Crms, { crm, id, edits }: CrmRecord): boolean => {
  const { name, Name } = crms[crm].get(id) ?? {};
  return edits.size === 0 && (name ?? Name ?? null) !== null;
};

/** What is told of persons is kept only where somebody listens. */
const heard = (changes: readonly Change[], listeners: readonly Listener[]): readonly Change[] => {
  const listed = new Set(listeners.flatMap(({ entities = [] }) => [...entities]));
  return changes.filter(({ entity }) => entity.startsWith('CVR-1-') || listed.has(entity));
};

async function link(store: Store, records: readonly CrmRecord[]): Promise<void> {
  await store.write(async (tx) => {
    for (const { crm, id, entity } of records)
      await linkRecord(tx, { provider: crm, recordId: id, entity, sendUpdate: true, now: Date.now() });
  });
}

/** How many bytes of the register the watcher has not read. */
async function unread({ db }: Store, file: string): Promise<number> {
  const kept = await db.selectFrom('kv').select('value').where('key', '=', 'cursor:file').executeTakeFirst();
  const { at = 0 }: { at?: number } = JSON.parse(kept?.value ?? '{}');
  return (await stat(file)).size - at;
}

/** What is not read, and the lanes that are behind, parked ones too; those of the clock do not count. */
async function whatIsLeft(store: Store, file: string): Promise<readonly string[]> {
  const bytes = await unread(store, file);
  const arrives = await hasArrivals(store.db);
  const lanes = await store.db.selectFrom('lane').selectAll().orderBy('queue').execute();
  return [
    ...(bytes === 0 ? [] : [`${bytes} bytes of the register`]),
    ...(arrives ? ['arrivals'] : []),
    ...lanes
      .filter(({ queue, parked_at }) => parked_at !== null || !CLOCKED.has(queue))
      .map(({ queue, key, error }) => `${queue} ${key} ${error ?? ''}`.trim()),
  ];
}

const CLOCKED = new Set(['watch', 'poll', 'housekeeping', 'service-housekeeping']);

async function changesIn({ db }: Store) {
  const rows = await db
    .selectFrom('change')
    .select(['id', 'entity', 'timestamp', 'updates'])
    .where('kind', '=', 'register')
    .orderBy('seq')
    .execute();
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  return rows.map(({ updates, ...row }) => ({ ...row, updates: readUpdates(updates) }));
}

const readUpdates = (text: string): Updates => JSON.parse(text);

const deliveriesLeft = ({ db }: Store) =>
  db.selectFrom('delivery').select(['monitor', 'state', 'error']).where('state', '!=', 'done').execute();
