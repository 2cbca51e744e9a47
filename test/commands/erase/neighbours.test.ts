/** What stands beside an erased company and holds its data too: its production units, the company index, what could not be read. */
import { describe, expect, it } from 'vitest';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { storeEntries } from '../../../src/match/index/write.ts';
import { setAside } from '../../../src/store/erasure/quarantine.ts';
import { writeValue } from '../../../src/store/kv.ts';
import type { Store } from '../../../src/store/store.ts';
import { address, contact, document, entry, name } from '../../service/register/documents.ts';
import { setWatch } from '../../service/register/watch-fixture.ts';
import { startFixture } from '../../support/fixture.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';

const NUMBER = '12345674';
const COMPANY = `CVR-1-${NUMBER}`;
const NAME = 'Tømrer Skitse Mønstergaard';
const STREET = 'Skitsestien';
const PHONE = '20304050';
const MAIL = 'skitse@example.com';
const UNITS = [1_009_999_990, 1_009_999_991, 1_009_999_992];
const WORDS = [NUMBER, ...UNITS.map(String), NAME, 'Mønstergaard', STREET, PHONE, MAIL];

const company = document({
  cvrNummer: Number(NUMBER),
  navne: [name(NAME)],
  beliggenhedsadresse: [address({ vejnavn: STREET })],
});

/** A production unit of the company, that the company's own document does not list. */
const unit = (pNummer: number) => ({
  VrproduktionsEnhed: {
    pNummer,
    enhedstype: 'PRODUKTIONSENHED',
    navne: [name(NAME)],
    livsforloeb: [entry({})],
    virksomhedsrelation: [entry({ cvrNummer: Number(NUMBER) })],
    beliggenhedsadresse: [address({ vejnavn: STREET })],
    telefonNummer: [contact(PHONE)],
    elektroniskPost: [contact(MAIL)],
    sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
    sidstIndlaest: '2026-03-02T12:00:00.000+01:00',
    naermesteFremtidigeDato: null,
  },
});

const indexed = (number: string, of: string, fields: Partial<IndexEntry> = {}): IndexEntry => ({
  number,
  company: of,
  name: NAME,
  otherNames: [],
  formerNames: [],
  form: null,
  address: null,
  formerAddresses: [],
  phone: PHONE,
  website: null,
  email: MAIL,
  ended: null,
  successor: null,
  ...fields,
});

const TAKEN_OVER = indexed('95000019', '95000019', {
  name: 'Prøvelund',
  phone: null,
  email: null,
  ended: '2025-01-01',
  successor: NUMBER,
});

/** What a search finds, but in the audit, and in the register's own cursor, which is the number of the last document that was read. */
const findable = async (store: Store): Promise<readonly string[]> =>
  (await rowsWith(store, '')).filter((row) => WORDS.some((word) => row.toLowerCase().includes(word.toLowerCase())));

const fileOf = (store: Store, entries: readonly IndexEntry[]) =>
  store.write((tx) => storeEntries(tx, entries, { stagedAt: 1 }));

describe.each(SUITE_ENGINES)('erase on %s', (engine) => {
  it('includes production units, even those that the company does not list, and its entry in the index', async () => {
    const { app, cli } = await startFixture({ engine });
    const { store } = app;
    const watch = await setWatch(store);
    await watch.tell(company, unit(UNITS[0] ?? 0));
    await watch.run();
    await fileOf(store, [indexed(NUMBER, NUMBER), indexed(String(UNITS[1]), NUMBER), TAKEN_OVER]);
    await store.write((tx) => writeValue(tx, `transfer:hubspot:${COMPANY}`, 'tried', 1));
    expect((await findable(store)).length).toBeGreaterThan(5);
    const { stdout } = await cli('export', COMPANY);
    for (const one of [NUMBER, String(UNITS[0]), String(UNITS[1]), STREET, PHONE, MAIL]) expect(stdout).toContain(one);

    expect((await cli('erase', COMPANY, '--yes')).code).toBe(0);
    expect(await findable(store)).toEqual([]);

    await watch.tell(company, unit(UNITS[0] ?? 0), unit(UNITS[2] ?? 0));
    await watch.run();
    await fileOf(store, [indexed(NUMBER, NUMBER), ...UNITS.map((one) => indexed(String(one), NUMBER)), TAKEN_OVER]);
    expect(await findable(store)).toEqual([]);
    expect((await rowsWith(store, 'Prøvelund')).length).toBe(1);

    expect((await cli('erase', COMPANY, '--lift')).code).toBe(0);
    await watch.tell(unit(UNITS[2] ?? 0));
    await watch.run();
    expect(await store.db.selectFrom('snapshot').select('entity').execute()).toEqual([{ entity: `CVR-2-${UNITS[2]}` }]);
  });

  it('reports its index entries, and those that it took over, with the counts of the preview', async () => {
    const { app, cli } = await startFixture({ engine });
    await fileOf(app.store, [indexed(NUMBER, NUMBER), TAKEN_OVER]);
    const tablesOf = async (option: string): Promise<unknown> =>
      JSON.parse((await cli('erase', COMPANY, '--json', option)).stdout).tables;
    const expected = [{ table: 'match_entry', deleted: 1, anonymised: 1 }];
    expect(await tablesOf('--dry-run')).toEqual(expected);
    expect(await tablesOf('--yes')).toEqual(expected);
  });

  it('keeps no copy of an unreadable body, only the fact', async () => {
    const { app, cli, post } = await startFixture({ engine });
    const { store } = app;
    expect((await cli('erase', COMPANY, '--yes')).code).toBe(0);
    await post(`{"entityId":"${COMPANY}","timestamp":"no time","updates":{"name":{"after":"${NAME}"}}}`);
    await store.write((tx) =>
      setAside(tx, {
        source: 'register',
        subject: NUMBER,
        reason: `${NUMBER}: no name`,
        body: Buffer.from('{}'),
        now: 1,
      }),
    );
    await post('{"entityId":"CVR-1-95000019","timestamp":"no time","updates":{}}');
    expect(await findable(store)).toEqual([]);
    const rows = await store.db.selectFrom('quarantine').select(['source', 'body']).orderBy('id').execute();
    expect(rows.map(({ source, body }) => [source, body.includes('95000019')])).toEqual([
      ['register', false],
      ['webhook', true],
    ]);
  });
});
