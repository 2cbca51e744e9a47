/** What `erase` leaves of a company and of a person in a store that the whole flow filled: nothing that a search finds. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { erase } from '../../../src/commands/erase/erase-entity.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { readErasures } from '../../../src/store/erasure/erasures.ts';
import type { Store } from '../../../src/store/store.ts';
import { COMPANY, PERSON, playStory, type Story } from '../../dashboard/story.ts';
import { made } from '../../service/monitored.ts';
import {
  address,
  contact,
  document,
  firm,
  name,
  owns,
  person,
  relation,
  role,
} from '../../service/register/documents.ts';
import { setWatch, type WatchFixture } from '../../service/register/watch-fixture.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';

const MEMBER = 'CVR-3-4000000001';
const NAME = 'Æblegårdens Tømrer ApS';
const STREET = 'Skitsestien';
const OTHER = 'CVR-1-95000019';
const UNIT = '1009999999';
const MAIL = 'kontakt@aeblegaard.example';

const NEWS = {
  baseUrl: 'https://news.example.com',
  registryProvider: 'register',
  pressProvider: 'press',
  gazetteProvider: 'gazette',
};

const member = person(4_000_000_001, PERSON);
const board = relation(member, role('LEDELSESORGAN', 'Bestyrelse', 'Bestyrelsesmedlem'));
const loadedAt = (minute: number) => `2026-03-02T12:${String(minute).padStart(2, '0')}:00.000+01:00`;

const company = (minute: number, phone: string) =>
  document({
    cvrNummer: 12_345_674,
    enhedsNummer: 4_999_000_002,
    navne: [name(NAME)],
    beliggenhedsadresse: [address({ vejnavn: STREET, husnummerFra: 7, postnummer: 2100, postdistrikt: 'København Ø' })],
    telefonNummer: [contact(phone)],
    elektroniskPost: [contact(MAIL)],
    hjemmeside: [contact('www.aeblegaard.example')],
    penheder: [{ ...name('x'), pNummer: Number(UNIT) }],
    deltagerRelation: [board],
    sidstIndlaest: loadedAt(minute),
  });

/** A company that both own, and whose board the person sits on. */
const neighbour = (minute: number, share: string) =>
  document({
    deltagerRelation: [board, relation(firm(12_345_674, NAME), owns(share)), relation(member, owns('0.25'))],
    sidstIndlaest: loadedAt(minute),
  });

interface Filled extends Story {
  readonly watch: WatchFixture;
  readonly store: Store;
}

/** Both halves have something of the company and of the person in most tables. */
async function filled(engine: (typeof ENGINES)[number]): Promise<Filled> {
  const story = await playStory({ engine });
  const { fixture } = story;
  const { store } = fixture.app;
  await made(store, { target: 'all', emails: ['birk@example.com'] });
  const watch = await setWatch(store, { publish: { news: NEWS } });
  await watch.tell(company(1, '20304050'), neighbour(1, '0.3333'));
  await watch.run();
  await watch.tell(company(2, '20304051'), neighbour(2, '0.5'));
  await watch.run();
  await fixture.post(`{"entityId":"${COMPANY}","timestamp":"no time","updates":{}}`);
  await fixture.cli('hold', `hubspot:${story.records.hubspot}`, 'name', '--reason', `asked by ${PERSON}`);
  await fixture.cli('backfill', 'hubspot', '--dry-run');
  return { ...story, watch, store };
}

/** What a search for these finds, whatever their case. */
async function findable(store: Store, words: readonly string[]): Promise<readonly string[]> {
  const rows = await rowsWith(store, '');
  return rows.filter((row) => words.some((word) => row.toLowerCase().includes(word.toLowerCase())));
}

/** Also by parts, and as the index and a CRM spell them. */
const OF_COMPANY = [
  ...['12345674', '12 34 56 74', NAME, 'Æblegård', 'aeblegaard', 'æblegaard', STREET, UNIT, 'Birk ApS'],
  ...['20304050', '20 30 40 50', '20304051', MAIL, 'aeblegaard.example'],
];
const OF_PERSON = ['4000000001', PERSON];

describe.each(SUITE_ENGINES)('erase on %s', (engine) => {
  it('removes every trace of a company by number, name and address, and keeps it from returning', async () => {
    const { fixture, store, watch, records } = await filled(engine);
    expect((await findable(store, OF_COMPANY)).length).toBeGreaterThan(20);
    const dry = await fixture.cli('erase', COMPANY, '--dry-run', '--json');
    const before = await rowsWith(store, '');
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.stdout).records).toContain(`hubspot:${records.hubspot}`);
    const written = JSON.stringify(fixture.hubspot.get(records.hubspot));

    const done = await fixture.cli('erase', COMPANY, '--yes', '--json');
    expect(done.stderr).not.toContain('"level":"error"');
    expect(done.code).toBe(0);
    expect(await findable(store, OF_COMPANY)).toEqual([]);
    expect(before.length).toBeGreaterThan((await rowsWith(store, '')).length);
    expect(JSON.stringify(fixture.hubspot.get(records.hubspot))).toBe(written);

    await fixture.post({
      entityId: COMPANY,
      timestamp: '2026-03-03T09:00:00.000Z',
      updates: { phoneNumber: { before: '30405060', after: '20304050' } },
    });
    await fixture.atRest();
    await watch.tell(company(3, '20304052'), neighbour(3, '0.6667'));
    await watch.run();
    await fixture.cli('monitoring', 'add', 'hubspot', COMPANY, records.hubspot, '--yes');
    await fixture.atRest();
    const again = await findable(store, OF_COMPANY);
    expect(again.filter((row) => !row.startsWith('audit '))).toEqual([]);
    const neighbours = await store.db.selectFrom('change').select('updates').where('entity', '=', OTHER).execute();
    expect(neighbours.some(({ updates }) => updates.includes('"CVR-3-9'))).toBe(true);
  });

  it('removes a person from the rows of companies, which keep the other persons', async () => {
    const { fixture, store, watch } = await filled(engine);
    expect((await findable(store, OF_PERSON)).length).toBeGreaterThan(3);
    expect((await fixture.cli('erase', MEMBER, '--yes')).code).toBe(0);
    expect(await findable(store, OF_PERSON)).toEqual([]);
    const told = (await watch.changes()).length;
    await watch.tell(company(4, '20304051'), neighbour(4, '0.5'));
    await watch.run();
    expect(await watch.changes()).toHaveLength(told);
    await fixture.post({
      entityId: COMPANY,
      timestamp: '2026-03-04T09:00:00.000Z',
      updates: { board: { added: [{ entityId: MEMBER, name: PERSON, type: 'Person' }], removed: [] } },
    });
    await fixture.atRest();
    expect(await findable(store, OF_PERSON)).toEqual([]);
    expect(await findable(store, ['12345674'])).not.toEqual([]);
  });

  it('is audited with a digest of the subject, can be repeated, and lets new data be stored after --lift', async () => {
    const { fixture, store } = await filled(engine);
    for (const _ of [1, 2]) expect((await fixture.cli('erase', COMPANY, '--yes')).code).toBe(0);
    const entries = await store.db.selectFrom('audit').selectAll().where('action', '=', 'entity.erase').execute();
    expect(entries.map(({ subject }) => subject)).toEqual([
      expect.stringMatching(/^erased:[0-9a-f]{16}$/),
      entries[0]?.subject,
    ]);
    expect((await readErasures(store.db)).has(`CVR-2-${UNIT}`)).toBe(true);
    expect((await fixture.cli('erase', COMPANY, '--lift')).code).toBe(0);
    expect((await readErasures(store.db)).version).toBe('');
    await fixture.post({
      entityId: COMPANY,
      timestamp: '2026-03-05T09:00:00.000Z',
      updates: { website: { before: null, after: 'https://birk.example' } },
    });
    await fixture.atRest();
    expect(await store.db.selectFrom('fact').select('entity').where('entity', '=', COMPANY).execute()).not.toEqual([]);
    expect((await fixture.cli('erase', COMPANY, '--lift')).code).toBe(1);
  });
});

describe.each(SUITE_ENGINES)('the report of an erasure on %s', (engine) => {
  it.each([COMPANY, MEMBER])('equals its preview, table by table: %s', async (entity) => {
    const { fixture, store } = await filled(engine);
    await fixture.atRest();
    await store.write((tx) => mark(tx, 'apply', [COMPANY], Date.now() + 86_400_000));
    const tablesOf = async (...options: readonly string[]): Promise<unknown> =>
      JSON.parse((await fixture.cli('erase', entity, '--json', ...options)).stdout).tables;
    const shown = await tablesOf('--dry-run');
    expect(shown).not.toEqual([]);
    expect(await tablesOf('--yes')).toEqual(shown);
    expect(await tablesOf('--dry-run')).toEqual([]);
  });
});

describe.each(SUITE_ENGINES)('an interrupted erasure on %s', (engine) => {
  it.each([1, 4, 12])('resumes after %i of its transactions when it is requested again', async (writes) => {
    const { fixture, store, records } = await filled(engine);
    const killed = new AbortController();
    let left = writes;
    const dying: Store = {
      ...store,
      write: async (work) => {
        const done = await store.write(work);
        left -= 1;
        if (left === 0) killed.abort();
        return done;
      },
    };
    const options = { now: Date.now, actor: { kind: 'user', name: 'birk' } } as const;
    await expect(erase(dying, COMPANY, { ...options, signal: killed.signal })).rejects.toThrow('aborted');
    expect(await findable(store, OF_COMPANY)).not.toEqual([]);
    // What comes meanwhile is not stored.
    await fixture.post({
      entityId: COMPANY,
      timestamp: '2026-03-03T09:00:00.000Z',
      updates: { phoneNumber: { before: '30405060', after: '20304050' } },
    });
    const done = await fixture.cli('erase', COMPANY, '--yes', '--json');
    // Also if the links went before it was cut off.
    expect(JSON.parse(done.stdout).records).toContain(`hubspot:${records.hubspot}`);
    await fixture.atRest();
    expect(await findable(store, OF_COMPANY)).toEqual([]);
  });
});

it('erase --compact leaves nothing in the bytes of an SQLite file and its log', async () => {
  const { fixture } = await filled('sqlite');
  const config: { readonly store: string } = JSON.parse(readFileSync(fixture.configFile, 'utf8'));
  await fixture.app.close(0);
  const bytes = (): string =>
    [config.store, `${config.store}-wal`]
      .map((file) => {
        try {
          return readFileSync(file, 'latin1');
        } catch {
          return '';
        }
      })
      .join('');
  const words = ['12345674', Buffer.from(NAME).toString('latin1'), STREET];
  expect(words.filter((word) => bytes().includes(word))).toEqual(words);
  expect((await fixture.cli('erase', COMPANY, '--yes', '--compact')).code).toBe(0);
  expect(words.filter((word) => bytes().includes(word))).toEqual([]);
});
