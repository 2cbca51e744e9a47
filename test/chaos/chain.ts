/** A register, the service that watches it, listeners, the connector and both CRMs: what runs, and what must hold in the end. */
import { randomBytes } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import type { Updates } from '../../src/protocol/payload.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { todayAt } from '../../src/service/register/document/today.ts';
import type { Store } from '../../src/store/store.ts';
import { type Crms, configFor, startCrms } from '../support/fixture.ts';
import { newFolder, opened } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { type Last, plain } from './fold.ts';
import { addListeners, complaints, type Listener, openReceiver, type Receiver, toldTo } from './listeners.ts';
import { addRecords, type CrmRecord, differences, heldIn } from './records.ts';
import { appendAll, registerOf, saying, undisturbed } from './register.ts';
import { scriptFaults } from './weather.ts';

export interface ChainOptions {
  readonly seed: number;
  readonly companies: number;
  readonly changes: number;
  readonly listeners: number;
  /** Scripted faults of each kind for each CRM. */
  readonly faults: number;
  /** Starts a daemon on the empty store, which then is of its version: the others come after. */
  readonly startFirst?: (config: object) => Promise<void>;
}

export interface Chain {
  /** Of the daemon, or of each of several. */
  readonly config: object;
  readonly crms: Crms;
  readonly records: readonly CrmRecord[];
  readonly receiver: Receiver;
  /** Lines that the register says behind the first, and posts that listeners are to get. */
  readonly lines: number;
  readonly posts: number;
  /** The register says what it said first, and the records that hold that are linked; resolves when they are written. */
  begin(): Promise<void>;
  /** It says the rest, amid scripted faults, and the other records are linked. */
  tellRest(said: (lines: number) => void): Promise<void>;
  /** Resolves when all is read, told and written. */
  atRest(): Promise<void>;
  /** Fails where anything is lost, wrong or doubled. The daemons have ended. */
  verify(): Promise<void>;
}

const PATIENCE = { timeout: 300_000, interval: 50 };

/** A chain on an empty store, before its daemon is started, or after its first one is. */
export async function openChain(url: string, options: ChainOptions, random: Random): Promise<Chain> {
  const { seed, companies, changes, listeners: count, faults } = options;
  const register = registerOf(seed, companies, changes, random);
  const reference = undisturbed([...register.first, ...register.later], todayAt(Date.now()));
  const crms = await startCrms();
  const records = addRecords(crms, sampleCompanies(seed, companies), random);
  const key = randomBytes(32);
  const file = join(newFolder(), 'register.ndjson');
  await appendFile(file, '');
  const config = {
    ...configFor(crms, url, { leaseSeconds: 5 }),
    beneficialOwners: { legalBasis: 'invented owners of invented companies' },
    service: {
      register: { source: 'file', path: file, pollSeconds: 1 },
      webhooks: { allow: ['127.0.0.1'] },
      secretKey: key.toString('base64'),
      leaseSeconds: 5,
      requestsPerMinute: 10_000,
    },
  };
  await options.startFirst?.(config);
  const store = await opened(url);
  const receiver = await openReceiver(randomFrom(seed + 1));
  const entities = [...register.companies.keys(), ...new Set(reference.map(({ entity }) => entity))];
  const listeners = await addListeners(store, openSecrets(key), receiver, { count, entities, random });
  const late: CrmRecord[] = [];
  return {
    config,
    crms,
    records,
    receiver,
    lines: register.later.length,
    posts: listeners.reduce((sum, listener) => sum + toldTo(listener, reference).length, 0),
    async begin() {
      await appendAll(file, register.first, random, () => {});
      await untilNone(async () => [await unread(store, file)].filter((bytes) => bytes > 0));
      late.push(...records.filter((record) => !isNamed(crms, record)));
      const early = records.filter((record) => !late.includes(record));
      await link(store, early);
      await untilNone(async () =>
        early.filter((record) => plain('postalCode', heldIn(crms, record, 'postalCode')) === ''),
      );
    },
    async tellRest(said) {
      scriptFaults(crms, random, faults);
      await appendAll(file, register.later, random, async (lines) => {
        await link(store, late.splice(0, random.int(0, 3)));
        said(lines);
      });
      await link(store, late);
    },
    atRest: () => untilNone(() => whatIsLeft(store, file), { stillMs: PATIENCE.timeout }),
    async verify() {
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
      expect(differences(crms, records, last, { but: ['registerChangedAt'] })).toEqual([]);
      // Whole states are dated by what the register touched last in the company's document, whether or not that was a
      // change. What a unit's own document says is in no state: a record that is linked after it holds an earlier date.
      const ofCompanies = stored.filter(({ updates }) => updates.pUnitUpdated === undefined);
      const tooOld = records.filter((record) => {
        const held = plain('registerChangedAt', heldIn(crms, record, 'registerChangedAt'));
        return ofCompanies.some(({ entity, timestamp }) => entity === record.entity && held < timestamp.slice(0, 19));
      });
      expect(tooOld).toEqual([]);
      expect([...crms.hubspot.calls, ...crms.salesforce.calls].filter(({ status }) => status === 429)).toEqual([]);
    },
  };
}

/** Whether it holds a name that is the register's. */
const isNamed = (crms: Crms, { crm, id, edits }: CrmRecord): boolean => {
  const { name, Name } = crms[crm].get(id) ?? {};
  return edits.size === 0 && (name ?? Name ?? null) !== null;
};

/** What is told of persons is kept only if somebody listens. */
const heard = (changes: readonly Change[], listeners: readonly Listener[]): readonly Change[] => {
  const listed = new Set(listeners.flatMap(({ entities = [] }) => [...entities]));
  return changes.filter(({ entity }) => entity.startsWith('CVR-1-') || listed.has(entity));
};

/** Again and again while the database is away. */
async function link(store: Store, records: readonly CrmRecord[]): Promise<void> {
  const linkAll = () =>
    store.write(async (tx) => {
      for (const { crm, id, entity } of records)
        await linkRecord(tx, { provider: crm, recordId: id, entity, sendUpdate: true, now: Date.now() });
      return true;
    });
  await expect.poll(linkAll, PATIENCE).toBe(true);
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
      .filter(({ queue, parked_at }) => parked_at !== null || !(CLOCKED.has(queue) || isCheck(queue)))
      .map(({ queue, key, error }) => `${queue} ${key} ${error ?? ''}`.trim()),
  ];
}

/** Due minutes after a write. */
const isCheck = (queue: string): boolean => queue.startsWith('edits:');
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
