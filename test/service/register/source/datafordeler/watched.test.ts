/** The watcher over Datafordeler: what it reads, what it reports, and its state after a fault or the end of the process. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type DatafordelerEmulator,
  serveDatafordeler,
} from '../../../../../src/commands/emulate/datafordeler/datafordeler.ts';
import { openClient } from '../../../../../src/http/outbound/client.ts';
import { claim } from '../../../../../src/runtime/lanes/lanes.ts';
import { createDatafordelerSource } from '../../../../../src/service/register/source/datafordeler/feed/datafordeler.ts';
import { wantedCompanies } from '../../../../../src/service/register/source/datafordeler/feed/wanted.ts';
import { fetchMissing } from '../../../../../src/service/register/watch/fetch-missing.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../../../support/stores.ts';
import { listed, made } from '../../../monitored.ts';
import { contact, document, entry, industry, type Json, name } from '../../documents.ts';
import { START, setWatch, type WatchFixture } from '../../watch-fixture.ts';

const company = (number: number, fields: Json = {}): Json =>
  document({
    cvrNummer: 95_000_000 + number,
    enhedsNummer: 4_999_000_000 + number,
    hovedbranche: [industry('310900')],
    beliggenhedsadresse: [entry({ vejnavn: 'Prøvegade' })],
    virksomhedsform: [entry({ virksomhedsformkode: 80, langBeskrivelse: 'Anpartsselskab' })],
    telefonNummer: [contact(`7010000${number}`)],
    ...fields,
  });
const renamed = (number: number): Json => company(number, { navne: [name(`Nyt Navn ${number} ApS`)] });

/** Fails the request of that number, and counts them. */
interface Requests {
  count: number;
  failAt: number;
}

async function watching(store: Store, emulator: DatafordelerEmulator, requests: Requests = { count: 0, failAt: 0 }) {
  const client = openClient();
  onTestFinished(client.close);
  const fixture = await setWatch(store, {
    source: (now) =>
      createDatafordelerSource({
        ...emulator.settings,
        requestsPerSecond: 20_000,
        firstEvent: 0,
        wanted: (entities) => wantedCompanies(store.db, entities),
        http: async (request) => {
          requests.count++;
          if (requests.count === requests.failAt) throw new Error('the machine stopped here');
          return client.http(request);
        },
        store,
        now,
      }),
  });
  return fixture;
}

async function list(store: Store, ...numbers: readonly number[]): Promise<void> {
  const { id } = await made(store, { target: 'items' });
  for (const number of numbers) await listed(store, id, `CVR-1-9500000${number}`);
}

const ADDED = 'CVR-1-95000001 addedToMonitor';

const emulated = async () => {
  const emulator = await serveDatafordeler({ companies: 0, now: () => START });
  onTestFinished(() => emulator.close());
  return emulator;
};

describe.each(SUITE_ENGINES)('a watcher over Datafordeler on %s', (engine) => {
  it('reads the companies that a monitor lists, and reports their changes once', async () => {
    const store = await newStore(engine);
    const emulator = await emulated();
    await list(store, 1);
    const fixture = await watching(store, emulator);
    for (const number of [1, 2]) emulator.put(company(number), START - 3_600_000);
    await fixture.run();
    for (const number of [1, 2]) emulator.put(renamed(number), START - 1_800_000);
    await fixture.run();
    await fixture.run();
    expect(await fixture.events()).toEqual([ADDED, 'CVR-1-95000001 name']);
    const stored = await store.db.selectFrom('snapshot').select('entity').execute();
    expect(stored).toEqual([{ entity: 'CVR-1-95000001' }]);
  });

  it('reads every company if a monitor is for all, and stored companies', async () => {
    const store = await newStore(engine);
    const entities = ['CVR-1-95000001', 'CVR-1-95000002'];
    expect(await wantedCompanies(store.db, entities)).toEqual(new Set());
    await list(store, 2);
    expect(await wantedCompanies(store.db, entities)).toEqual(new Set(['CVR-1-95000002']));
    await made(store, { target: 'all' });
    expect(await wantedCompanies(store.db, entities)).toEqual(new Set(entities));
  });
});

/** Asks for the companies that are due by then; returns the waits of those that stay. */
async function ask({ store, deps, source, now, forward }: WatchFixture, ms: number): Promise<readonly number[]> {
  forward(ms);
  const held = await claim(store, 'ask', { limit: 9, now: now(), leaseMs: 30_000 });
  expect(held.length).toBeGreaterThan(0);
  await fetchMissing(deps, [source], held, new AbortController().signal);
  const left = await store.db.selectFrom('lane').select('due_at').where('queue', '=', 'ask').execute();
  return left.map(({ due_at }) => (due_at ?? 0) - now());
}

describe.each(SUITE_ENGINES)('an entity that answers empty for a day, on %s', (engine) => {
  const MINUTE = 60_000;

  async function silence() {
    const store = await newStore(engine);
    const emulator = await emulated();
    await list(store, 1);
    const fixture = await watching(store, emulator);
    emulator.put(company(1), START - 9_000_000);
    await fixture.run();
    await store.write((tx) => tx.deleteFrom('lane').where('queue', '=', 'ask').execute());
    emulator.silent.add('Telefonnummer');
    emulator.put(company(1, { telefonNummer: [contact('70109999')] }), START - 8_000_000);
    await fixture.run();
    return { emulator, fixture };
  }

  it('is requested again at growing intervals, until it serves what was announced', async () => {
    const { emulator, fixture } = await silence();
    const waits = [await ask(fixture, 15 * MINUTE), await ask(fixture, 19 * MINUTE), await ask(fixture, 40 * MINUTE)];
    expect(waits.map(([wait = 0]) => Math.round(Math.log2(wait / MINUTE / 15)))).toEqual([0, 1, 2]);
    expect(await fixture.events()).toEqual([ADDED]);
    emulator.silent.clear();
    expect(await ask(fixture, 80 * MINUTE)).toEqual([]);
    expect(await fixture.changes()).toMatchObject([
      {},
      { updates: { phoneNumber: { before: '70100001', after: '70109999' } } },
    ]);
  });

  it('is not requested after a day, and its empty answer is no removal', async () => {
    const { fixture } = await silence();
    expect(await ask(fixture, 15 * MINUTE)).toHaveLength(1);
    expect(await ask(fixture, 25 * 60 * MINUTE)).toEqual([]);
    expect(await fixture.events()).toEqual([ADDED]);
  });

  it('states nothing by rows of a former registration', async () => {
    const { emulator, fixture } = await silence();
    emulator.silent.clear();
    const stale = emulator.tables.unit('Telefonnummer', '4999000001').map((row) => ({
      ...row,
      vaerdi: '70100001',
      datafordelerRegisterImportSequenceNumber: 1,
    }));
    const { rowsOf, unit } = emulator.tables;
    const isStale = (entity: string) => entity === 'Telefonnummer';
    Object.assign(emulator.tables, {
      rowsOf: (entity: string) => (isStale(entity) ? stale : rowsOf(entity)),
      unit: (entity: string, id: string) => (isStale(entity) ? stale : unit(entity, id)),
    });
    expect(await ask(fixture, 15 * MINUTE)).toHaveLength(1);
    expect(await fixture.events()).toEqual([ADDED]);
  });

  it('causes no removal, and has its change once it is back', async () => {
    const store = await newStore(engine);
    const emulator = await emulated();
    await list(store, 1);
    const fixture = await watching(store, emulator);
    emulator.put(company(1), START - 9_000_000);
    await fixture.run();
    // Listing the company asked for it.
    await store.write((tx) => tx.deleteFrom('lane').where('queue', '=', 'ask').execute());
    emulator.silent.add('Telefonnummer');
    emulator.put(company(1, { navne: [name('Et ApS')], telefonNummer: [contact('70109999')] }), START - 8_000_000);
    await fixture.run();
    expect(await fixture.events()).toEqual([ADDED, 'CVR-1-95000001 name']);
    expect(fixture.warnings).toContain('a part of the register cannot be read now: trying again');
    const asked = await store.db.selectFrom('lane').select(['key', 'due_at']).where('queue', '=', 'ask').execute();
    expect(asked).toMatchObject([{ key: 'CVR-1-95000001' }]);
    expect(asked[0]?.due_at).toBeGreaterThan(fixture.now() + 14 * MINUTE);
    emulator.silent.clear();
    emulator.put(company(1, { navne: [name('To ApS')], telefonNummer: [contact('70109999')] }), START - 7_000_000);
    await fixture.run();
    const last = (await fixture.changes()).at(-1);
    expect(last?.updates).toMatchObject({ name: {}, phoneNumber: { before: '70100001', after: '70109999' } });
    emulator.put(company(1, { navne: [name('To ApS')], telefonNummer: [] }), START - 6_000_000);
    await fixture.run();
    expect((await fixture.changes()).at(-1)?.updates).toMatchObject({ phoneNumber: { after: null } });
  });
});

describe.each(SUITE_ENGINES)('a unit that the register deletes, on %s', (engine) => {
  const COMPANY = '4999000001';
  const UNIT = '4595000011';
  const OTHER = '4595000012';
  const unitOf = (pNummer: number, cvrNummer = 95_000_001): Json => ({
    VrproduktionsEnhed: {
      pNummer,
      navne: [name('Afdelingen')],
      beliggenhedsadresse: [entry({ vejnavn: 'Prøvegade' })],
      hovedbranche: [industry('310900')],
      livsforloeb: [entry({})],
      virksomhedsrelation: [entry({ cvrNummer })],
      sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
    },
  });
  const unit = unitOf(1_995_000_011);
  const other = unitOf(1_995_000_012);

  const putAll = (emulator: DatafordelerEmulator, at: number): void => {
    for (const each of [company(1), unit, other]) emulator.put(each, at);
  };

  async function deleting(...ids: readonly string[]) {
    const removeAll = ({ tables }: DatafordelerEmulator, at: number): void => {
      for (const id of ids) tables.remove(id, at);
    };
    const store = await newStore(engine);
    const emulator = await emulated();
    await list(store, 1);
    const fixture = await watching(store, emulator);
    let hours = 9;
    const next = async (work: (at: number) => void) => {
      hours -= 1;
      work(START - hours * 3_600_000);
      await fixture.run();
      return (await fixture.events()).slice(1);
    };
    expect(await next((at) => putAll(emulator, at))).toEqual([]);
    expect(await next((at) => removeAll(emulator, at))).toEqual([]);
    const known = await store.db.selectFrom('snapshot').select('entity').orderBy('entity').execute();
    expect(known.map(({ entity }) => entity)).toEqual(['CVR-1-95000001', 'CVR-2-1995000011', 'CVR-2-1995000012']);
    return { emulator, next };
  }

  it('keeps its facts, and is not reported when it comes back unchanged', async () => {
    const { emulator, next } = await deleting(COMPANY, UNIT);
    expect(await next((at) => putAll(emulator, at))).toEqual([]);
  });

  it('is compared with its last facts when it comes back', async () => {
    const { emulator, next } = await deleting(COMPANY);
    expect(await next((at) => emulator.put(renamed(1), at))).toEqual(['CVR-1-95000001 name']);
  });

  it('leaves a company without any once that is registered again, which is reported once', async () => {
    const { emulator, next } = await deleting(UNIT, OTHER);
    // The units of another company are served: then it is no silence that this one has none.
    const others = (at: number) => emulator.put(unitOf(1_995_000_021, 95_000_002), at);
    const both = ['CVR-1-95000001 pUnitRemoved', 'CVR-1-95000001 pUnitRemoved'];
    await next(others);
    expect(await next((at) => emulator.put(company(1), at))).toEqual(both);
    expect(await next((at) => emulator.put(company(1), at))).toEqual(both);
    expect(await next((at) => emulator.put(unit, at))).toEqual([...both, 'CVR-1-95000001 pUnitAdded']);
  });

  it('is not treated as deleted if no unit is served at all', async () => {
    const { emulator, next } = await deleting();
    emulator.silent.add('Produktionsenhed');
    expect(await next((at) => emulator.put(company(1), at))).toEqual([]);
    emulator.silent.clear();
    expect(await next((at) => emulator.put(company(1), at))).toEqual([]);
  });

  it('leaves its company once the company is registered again, and joins it when it comes back', async () => {
    const { emulator, next } = await deleting(UNIT);
    const left = ['CVR-1-95000001 pUnitRemoved'];
    expect(await next((at) => emulator.put(company(1), at))).toEqual(left);
    expect(await next((at) => emulator.put(unit, at))).toEqual([...left, 'CVR-1-95000001 pUnitAdded']);
  });
});

describe.each(SUITE_ENGINES)('a process that ends, on %s', (engine) => {
  it('at any request leaves nothing behind, and the next one resumes there', async () => {
    const store = await newStore(engine);
    const emulator = await emulated();
    await list(store, 1);
    const requests = { count: 0, failAt: 0 };
    emulator.put(company(1), START - 9_000_000);
    await (await watching(store, emulator, requests)).run();
    emulator.put(renamed(1), START - 8_000_000);
    const before = await store.db.selectFrom('kv').selectAll().where('key', 'like', 'cursor:%').execute();
    for (requests.failAt = 1; ; requests.failAt++) {
      requests.count = 0;
      const next = await watching(store, emulator, requests);
      next.forward(requests.failAt * 31_000);
      const ran = await next.run().catch((error: Error) => error.message);
      if (requests.count < requests.failAt) break;
      expect(ran).toContain('the machine stopped here');
      expect(await next.events()).toEqual([ADDED]);
      expect(await store.db.selectFrom('kv').selectAll().where('key', 'like', 'cursor:%').execute()).toEqual(before);
      await store.write((tx) => tx.updateTable('lane').set({ fence: null, lease_until: null, unended: 0 }).execute());
    }
    expect(requests.failAt).toBeGreaterThan(12);
    expect(await (await watching(store, emulator)).events()).toEqual([ADDED, 'CVR-1-95000001 name']);
  });
});
