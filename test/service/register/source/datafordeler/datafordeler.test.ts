import { describe, expect, it } from 'vitest';
import type { ScriptedFault } from '../../../../../providers/kit/emulator/emulator.ts';
import { type DafFixture, dafFixture } from '../../daf-fixture.ts';
import { contact, document, entry, industry, type Json, name } from '../../documents.ts';
import { numbersIn, readAll, sourceContract } from '../../source-contract.ts';

describe('Datafordeler', () => sourceContract(() => dafFixture({ pageSize: 8 })));
describe('Datafordeler, by a token', () =>
  sourceContract(() =>
    dafFixture({ pageSize: 8 }, {}, (emulator) => ({
      apiKey: undefined,
      oauth: emulator.oauth,
      tokenUrl: emulator.tokenUrl,
    })),
  ));

const company = (number: number, fields: Json = {}): Json =>
  document({
    cvrNummer: 95_000_000 + number,
    enhedsNummer: 4_999_000_000 + number,
    hovedbranche: [industry('310900')],
    beliggenhedsadresse: [entry({ vejnavn: 'Prøvegade', husnummerFra: 4 })],
    virksomhedsform: [entry({ virksomhedsformkode: 80, langBeskrivelse: 'Anpartsselskab' })],
    ...fields,
  });

const unit = (pNummer: number, cvrNummer: number, fields: Json = {}): Json => ({
  VrproduktionsEnhed: {
    pNummer,
    navne: [name(`Afdeling ${pNummer}`)],
    beliggenhedsadresse: [entry({ vejnavn: 'Prøvegade' })],
    hovedbranche: [industry('310900')],
    livsforloeb: [entry({})],
    virksomhedsrelation: [entry({ cvrNummer })],
    sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
    ...fields,
  },
});

type Content = Readonly<Record<string, unknown>>;
const contentsOf = (documents: Iterable<unknown>): readonly Content[] =>
  [...documents].map((each) => Object.values(each as Readonly<Record<string, Content>>)[0] ?? {});
const refuse = (
  emulator: DafFixture['emulator'],
  entity: string,
  status: number,
  times: ScriptedFault['times'] = 'always',
) => emulator.fault({ match: 'CVR/v2', body: `CVR_${entity}\\(`, times, action: { kind: 'status', status } });

describe('the feed', () => {
  it('begins at the newest event, and returns the company with its history once something changes', async () => {
    const { emulator, page, clock } = await dafFixture({ firstEvent: undefined });
    emulator.put(company(1));
    const first = await page();
    expect(first).toMatchObject({ documents: [], more: false });
    const navne = [name('Før ApS', '2020-01-01', '2026-03-01'), name('Efter ApS', '2026-03-02')];
    emulator.put(company(1, { navne, telefaxNummer: [contact('70100009')] }), clock.now());
    const second = await page(first.cursor);
    const [read] = contentsOf(second.documents);
    expect(read).toMatchObject({ cvrNummer: 95_000_001, enhedsNummer: 4_999_000_001, bibranche1: [] });
    expect(read?.['navne']).toHaveLength(2);
    // The only way to a fax number is the row that the feed names.
    expect(read?.['telefaxNummer']).toMatchObject([{ kontaktoplysning: '70100009' }]);
    expect((await page(second.cursor)).documents).toEqual([]);
  });

  it('returns a unit once if its events fill several windows', async () => {
    const { emulator, source } = await dafFixture({ pageSize: 10 });
    const navne = Array.from({ length: 14 }, (_, at) =>
      name(`Navn ${at} ApS`, `20${10 + at}-01-01`, `20${10 + at}-12-31`),
    );
    for (const number of [1, 2, 3]) emulator.put(company(number, { navne }));
    const { numbers } = await readAll(source);
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3]));
  });

  it('reads only wanted entities, and requests nothing of a person', async () => {
    const asked: string[] = [];
    const wanted = async (entities: readonly string[]) => {
      asked.push(...entities);
      return new Set(['CVR-1-95000002']);
    };
    const { emulator, page } = await dafFixture({ wanted });
    for (const number of [1, 2]) emulator.put(company(number));
    const row = { CVREnhedsId: '4999000077', vaerdi: 'Anna Testesen', sekvens: 0, virkningFra: '2020-01-01' };
    const person = { id: '4999000077', enhedsType: 'CVRPerson', forretningsnoegle: '4999000077' };
    emulator.tables.put('4999000077', { CVREnhed: [person], CVRPerson: [{ id: '4999000077' }], Navn: [row] }, 1);
    const { documents } = await page();
    expect(numbersIn(documents)).toEqual([2]);
    expect(asked.toSorted()).toEqual(['CVR-1-95000001', 'CVR-1-95000002']);
    const questions = emulator.questions.filter((each) => each.includes('4999000077'));
    expect(questions.map((each) => /CVR_\w+/.exec(each)?.[0])).toEqual(['CVR_CVREnhed']);
  });

  it('returns a company again with each production unit that joins or leaves it, and the unit', async () => {
    const { emulator, page } = await dafFixture();
    emulator.put(company(1));
    emulator.put(company(2));
    const { cursor } = await page();
    emulator.put(unit(1_995_000_011, 95_000_001));
    const joined = await page(cursor);
    expect(contentsOf(joined.documents)).toMatchObject([
      { pNummer: 1_995_000_011, virksomhedsrelation: [{ cvrNummer: 95_000_001 }] },
      { cvrNummer: 95_000_001, penheder: [{ pNummer: 1_995_000_011 }] },
    ]);
    const virksomhedsrelation = [
      entry({ cvrNummer: 95_000_001 }, '2020-01-01', '2026-02-28'),
      entry({ cvrNummer: 95_000_002 }, '2026-03-01'),
    ];
    emulator.put(unit(1_995_000_011, 0, { virksomhedsrelation }));
    const moved = contentsOf((await page(joined.cursor)).documents);
    const numbers = moved.map(({ cvrNummer, pNummer }) => cvrNummer ?? pNummer);
    expect(new Set(numbers)).toEqual(new Set([1_995_000_011, 95_000_001, 95_000_002]));
    expect(moved[numbers.indexOf(95_000_001)]).toMatchObject({ penheder: [{ periode: { gyldigTil: '2026-02-28' } }] });
  });

  it('finds a company with 3,000 production units, and all of them', async () => {
    const { emulator, find } = await dafFixture();
    const penheder = Array.from({ length: 3_000 }, (_, at) => entry({ pNummer: 1_995_000_000 + at }));
    emulator.put(company(1, { penheder }));
    const found = contentsOf(await find('95000001', '95000002'));
    expect(found).toHaveLength(3_001);
    expect(found[0]?.['penheder']).toHaveLength(3_000);
  });

  it('skips a unit that is gone, and returns it once it is back', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1));
    const { cursor } = await page();
    emulator.tables.remove('4999000001', clock.now());
    const gone = await page(cursor);
    expect(gone).toMatchObject({ documents: [], more: false });
    expect(gone.trouble).toBeUndefined();
    emulator.put(company(1, { navne: [name('Igen ApS')] }));
    expect(contentsOf((await page(gone.cursor)).documents)).toMatchObject([{ navne: [{ navn: 'Igen ApS' }] }]);
  });
});

describe('refusals', () => {
  it('403 of one entity: its family is unknown, the source reports it, and asks again', async () => {
    const { emulator, page, source } = await dafFixture();
    emulator.put(company(1, { telefonNummer: [contact('70100001')] }));
    refuse(emulator, 'Telefonnummer', 403);
    const { documents, trouble, again } = await page();
    expect(again).toEqual(['CVR-1-95000001']);
    const [read] = contentsOf(documents);
    expect(read?.['telefonNummer']).toBeUndefined();
    expect(read?.['navne']).toHaveLength(1);
    expect(trouble).toBe('Datafordeler refuses CVR_Telefonnummer (403): unknown are phoneNumber');
    expect(await source.probe?.(new AbortController().signal)).toEqual([trouble]);
  });

  it.each([
    ['401', { kind: 'status', status: 401 }],
    [
      'an error UNAUTHENTICATED',
      { kind: 'status', status: 200, body: { errors: [{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }] } },
    ],
  ] as const)('%s of one entity: the page is requested again, and nothing is unknown', async (_, action) => {
    const { emulator, page } = await dafFixture();
    emulator.put(company(1, { telefonNummer: [contact('70100001')] }));
    emulator.fault({ match: 'CVR/v2', body: 'CVR_Telefonnummer\\(', times: 1, action });
    const message = expect.stringContaining('service.register.apiKey');
    await expect(page()).rejects.toMatchObject({ name: 'SourceError', retryAfterMs: 60_000, message });
    const { documents, trouble } = await page();
    expect(contentsOf(documents)[0]?.['telefonNummer']).toMatchObject([{ kontaktoplysning: '70100001' }]);
    expect(trouble).toBeUndefined();
  });

  it('says to check the key if the feed itself is refused', async () => {
    const { page } = await dafFixture({ apiKey: 'not-the-key-at-all' });
    await expect(page()).rejects.toMatchObject({ name: 'SourceError', message: expect.stringContaining('apiKey') });
  });

  it('renews a refused token, and reports a refused client', async () => {
    const wrong = await dafFixture({}, {}, (emulator) => ({
      apiKey: undefined,
      oauth: { ...emulator.oauth, clientSecret: 'no' },
      tokenUrl: emulator.tokenUrl,
    }));
    await expect(wrong.page()).rejects.toThrow('service.register.oauth');
    const { emulator, page } = await dafFixture({}, {}, ({ oauth, tokenUrl }) => ({
      apiKey: undefined,
      oauth,
      tokenUrl,
    }));
    emulator.put(company(1));
    await page();
    emulator.fault({ match: 'CVR/v2', times: 1, action: { kind: 'status', status: 401 } });
    expect(numbersIn((await page()).documents)).toEqual([1]);
    emulator.fault({ match: 'CVR/v2', times: 2, action: { kind: 'status', status: 401 } });
    await expect(page()).rejects.toMatchObject({ name: 'SourceError', retryAfterMs: 60_000 });
  });

  it.each([500, 503])('%i on a large query: requests halves', async (status) => {
    const { emulator, source } = await dafFixture();
    for (const number of [1, 2, 3, 4]) emulator.put(company(number));
    refuse(emulator, 'Navn', status, 2);
    expect((await readAll(source)).numbers.toSorted()).toEqual([1, 2, 3, 4]);
  });

  it('requests an entity without a lost column, or not at all if its rows need the column', async () => {
    const { emulator, page } = await dafFixture();
    emulator.put(company(1));
    for (const column of ['CVR_Navn.datafordelerOpdateringstid', 'CVR_Branche.sekvens']) emulator.lost.add(column);
    const { documents, trouble } = await page();
    const [read] = contentsOf(documents);
    expect(read).toMatchObject({ navne: [{ navn: 'Prøvelund Møbler ApS' }] });
    expect(read?.['hovedbranche']).toBeUndefined();
    expect(trouble).toBe('CVR_Branche lost the column sekvens: unknown are industry');
  });

  it.each([
    ['429', { kind: 'status', status: 429, headers: { 'retry-after': '7' } }, { retryAfterMs: 7_000 }],
    ['404', { kind: 'status', status: 404 }, { message: expect.stringContaining('graphqlUrl') }],
    ['a redirect', { kind: 'status', status: 302, headers: { location: 'http://elsewhere.invalid' } }, {}],
    ['an answer that is cut', { kind: 'cut' }, {}],
    ['a reset', { kind: 'reset' }, {}],
    ['something else', { kind: 'status', status: 200, body: { hello: 1 } }, {}],
    ['no JSON', { kind: 'status', status: 200, body: '<html>' }, {}],
    ['an error', { kind: 'status', status: 200, body: { errors: [{ message: 'Unexpected' }] } }, {}],
    ['rows that are no list', { kind: 'status', status: 200, body: { data: { CVR_Events: { nodes: 1 } } } }, {}],
  ] as const)('treats %s as an outage, not as data', async (_, action, error) => {
    const { emulator, page } = await dafFixture();
    emulator.put(company(1));
    emulator.fault({ match: 'CVR/v2', body: 'CVR_Events', action });
    await expect(page()).rejects.toMatchObject({ name: 'SourceError', ...error });
    expect(numbersIn((await page()).documents)).toEqual([1]);
  });
});

describe('the key', () => {
  const KEY = 'q7-very/secret+key';
  it.each([
    ['a refusal', { kind: 'status', status: 401 }],
    ['an answer that quotes it', { kind: 'status', status: 200, body: { errors: [{ message: `bad key ${KEY}` }] } }],
    ['a redirect to an address with it', { kind: 'status', status: 302, headers: { location: `/x?apiKey=${KEY}` } }],
    ['a server error', { kind: 'status', status: 500, body: KEY }],
    ['a wrong address', { kind: 'status', status: 404, body: KEY }],
    ['a reset', { kind: 'reset' }],
    ['a cut', { kind: 'cut' }],
    ['a hang', { kind: 'hang' }],
  ] as const)('is in no error after %s, nor in what caused it', async (_, action) => {
    const { emulator, page } = await dafFixture({ apiKey: KEY, deadlineMs: 200 }, { apiKey: KEY });
    emulator.fault({ match: 'CVR/v2', times: 'always', action });
    const error: unknown = await page().catch((thrown: unknown) => thrown);
    const texts = textsOf(error);
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) {
      expect(text).not.toContain(KEY);
      expect(text).not.toContain(encodeURIComponent(KEY));
      expect(text).not.toContain('apiKey=');
    }
  });

  it('is in no error if nothing listens', async () => {
    const { page } = await dafFixture({ apiKey: KEY, graphqlUrl: 'http://127.0.0.1:9' });
    const error: unknown = await page().catch((thrown: unknown) => thrown);
    expect(textsOf(error).join(' ')).not.toMatch(/very|apiKey=/);
  });
});

/** Every text of an error and its causes, as a log writes them. */
function textsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  const own = Object.getOwnPropertyNames(error).map((each) => String(Reflect.get(error, each)));
  return [...own, JSON.stringify(error), ...(error.cause === undefined ? [] : textsOf(error.cause))];
}
