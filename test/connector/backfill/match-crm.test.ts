import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { writeMatchPlan } from '../../../src/connector/backfill/match-plan.ts';
import { countByConfidence, resultsAfter } from '../../../src/connector/match/results.ts';
import { choosePositions, surveyResults } from '../../../src/connector/match/survey.ts';
import { storeEntries } from '../../../src/match/index/write.ts';
import { entry, HAVNEGADE, RINGVEJ } from '../../match/entries.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Fixture, type FixtureOptions, startFixture } from './fixture.ts';
import { newFile } from './plan-runs.ts';

const [A, B, C] = [cvrNumber(1), cvrNumber(2), cvrNumber(3)];
const here = new AbortController().signal;
const nordlys = { name: 'Nordlys Møbler', address: 'Ringvej 1', zip: '8000' };

/** Properties that the account does not have. */
const NOWHERE = Object.fromEntries(
  ['name', 'street', 'postalCode', 'city', 'country', 'phone', 'website', 'email'].map((part) => [part, `no_${part}`]),
);

async function withIndex(options: FixtureOptions): Promise<Fixture> {
  const fixture = await startFixture(options);
  await fixture.store.write((tx) =>
    storeEntries(tx, [
      entry(A, 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' }),
      entry(B, 'Nordlys Møbler Holding ApS', { address: RINGVEJ }),
      entry(C, 'Havblik Cykler A/S', { address: HAVNEGADE, website: 'havblik.dk' }),
    ]),
  );
  return fixture;
}

/** `confidence companies` by record. */
async function found({ store, deps }: Fixture): Promise<Readonly<Record<string, string>>> {
  const results = await resultsAfter(store.db, deps.crm.name, { after: 0, limit: 1_000 });
  return Object.fromEntries(
    results.map((one) => [one.recordId, [one.confidence, ...one.candidates.map(({ company }) => company)].join(' ')]),
  );
}

const planOf = async (
  fixture: Fixture,
  linkCertain = true,
): Promise<{ readonly file: string; readonly lines: readonly Readonly<Record<string, string>>[] }> => {
  const file = newFile();
  const { lines: all, linkable } = await surveyResults(fixture.store.db, 'hubspot', Number.POSITIVE_INFINITY, here);
  const linked = linkCertain ? linkable : undefined;
  await writeMatchPlan(fixture.deps, { file, lines: all, linked, language: 'en' }, here);
  const lines: Record<string, string>[] = parse(readFileSync(file), { bom: true, delimiter: ';', columns: true });
  return { file, lines };
};

describe.each(SUITE_ENGINES)('matching the records of a CRM on %s', (engine) => {
  it('finds the companies of records without a number, and skips records with one', async () => {
    const fixture = await withIndex({ engine });
    const { emulator } = fixture;
    const first = emulator.add(nordlys);
    const second = emulator.add({ name: 'Havblik Cykler', website: 'https://www.havblik.dk' });
    const none = emulator.add({ name: 'Fremmed Firma' });
    fixture.add(A, { name: 'Nordlys Møbler' });
    await fixture.match();
    expect(await found(fixture)).toEqual({
      [first]: expect.stringMatching(`^certain ${A} ${B}|^certain ${A}`),
      [second]: `certain ${C}`,
      [none]: 'none',
    });
    expect(await countByConfidence(fixture.store.db, 'hubspot')).toEqual({ certain: 2, none: 1 });
    expect(await fixture.links()).toEqual({});
  });

  it('matches every record without a valid number, and skips a number that the index knows', async () => {
    const fixture = await withIndex({ engine });
    const bikes = { name: 'Havblik Cykler', website: 'havblik.dk' };
    const texts = ['n/a', 'ukendt', '1234567', '+45 86 12 34 56', '12345678', '87654321', `${C.slice(0, 7)}`];
    const ids = texts.map((text) => fixture.emulator.add({ ...bikes, cvr_number: text }));
    const known = fixture.emulator.add({ ...bikes, cvr_number: '10000001' });
    fixture.emulator.add({ ...bikes, cvr_number: A });
    await fixture.store.write((tx) => storeEntries(tx, [entry('10000001', 'Solvind A/S')]));
    await fixture.match();
    const results = await found(fixture);
    expect(results).toEqual(Object.fromEntries(ids.map((id) => [id, expect.stringMatching(`^certain ${C}`)])));
    expect(results[known]).toBeUndefined();
    const { file, lines } = await planOf(fixture, false);
    expect(lines.map(({ page }) => page)).toEqual(
      lines.map(({ record }) => `https://app.hubspot.com/contacts/24680135/record/0-2/${record}`),
    );
    expect(lines.find(({ record }) => record === ids.at(-1))?.['note']).toMatch(/its number is nearly the record’s/u);
    const linked = readFileSync(file, 'utf8').replace(new RegExp(`^(${ids[4]};.*);skip;`, 'mu'), '$1;link;');
    writeFileSync(file, linked);
    await fixture.run({ mode: { kind: 'file', file } });
    expect(await fixture.links()).toEqual({ [String(ids[4])]: `CVR-1-${C} person crm active` });
  });

  it('reads the properties that match names instead of the mapped ones', async () => {
    const match = { property: 'cvr_number', name: 'about_us', street: 'address2' };
    const { emulator, ...fixture } = await withIndex({ engine, connection: { match } });
    const id = emulator.add({ name: 'Kunde 17', about_us: 'Nordlys Møbler', address2: 'Ringvej 1', zip: '8000' });
    await fixture.match();
    expect(await found({ emulator, ...fixture })).toEqual({ [id]: expect.stringMatching(`^certain ${A}`) });
  });

  it('links certain matches of a plan, except a company with two candidates or another record', async () => {
    const fixture = await withIndex({ engine });
    const { emulator } = fixture;
    const twins = [emulator.add(nordlys), emulator.add(nordlys)];
    const bikes = emulator.add({ name: 'Havblik Cykler', website: 'havblik.dk' });
    await fixture.match();
    const { file, lines } = await planOf(fixture);
    expect(lines.map(({ record, number, action, note }) => [record, number, action, note])).toEqual([
      [
        bikes,
        C,
        'link',
        expect.stringMatching('^the domain and the name agree; its own domain havblik.dk; name equal but for the form'),
      ],
      [
        twins[0],
        A,
        'skip',
        expect.stringMatching(
          '^several records mean this company; the name and the address agree; name equal but for the form',
        ),
      ],
      [twins[1], A, 'skip', expect.stringMatching('^several records')],
    ]);
    await fixture.run({ mode: { kind: 'file', file } });
    expect(await fixture.links()).toEqual({ [bikes]: `CVR-1-${C} person crm active` });
    expect(fixture.service.changes).toEqual([`add hubspot CVR-1-${C} ${bikes}`]);

    const third = emulator.add({ name: 'Havblik Cykler', website: 'havblik.dk' });
    await fixture.match();
    const [line] = (await planOf(fixture)).lines.filter(({ record }) => record === third);
    expect(line).toMatchObject({
      action: 'skip',
      note: expect.stringMatching(`^record ${bikes} stands for this company`),
    });
  });

  it('does not link a seemingly certain match if an active company contradicts it', async () => {
    const fixture = await withIndex({ engine });
    const [old, heir, sister] = [cvrNumber(11), cvrNumber(12), cvrNumber(13)];
    const address = RINGVEJ;
    const formerNames = [{ value: 'Fjordbyg ApS', until: '2021-05-01' }];
    const entries = [
      entry(old, 'Fjordbyg Holding ApS', { address, phone: '86111111', formerNames }),
      entry(heir, 'Fjordbyg ApS', { address }),
      entry(sister, 'Simon Ravn Holding ApS', { address: HAVNEGADE, phone: '86222222' }),
      entry(cvrNumber(14), 'Simone Ravn Holding ApS'),
    ];
    await fixture.store.write((tx) => storeEntries(tx, entries));
    const place = { address: 'Ringvej 1', zip: '8000' };
    const former = fixture.emulator.add({ ...place, name: 'Fjordbyg ApS', phone: '86111111' });
    const near = fixture.emulator.add({ name: 'Simone Ravn Holding', address: 'Havnegade 3', phone: '86222222' });
    await fixture.match();
    const { lines } = await planOf(fixture);
    expect(Object.fromEntries(lines.map(({ record, action }) => [record, action]))).toEqual({
      [former]: 'skip',
      [near]: 'skip',
    });
  });

  it('sorts a plan by confidence and score, and cuts it at its limit', async () => {
    const fixture = await withIndex({ engine });
    const none = fixture.emulator.add({ name: 'Fremmed Firma' });
    const likely = fixture.emulator.add({ name: 'Havblik Cykler' });
    const certain = fixture.emulator.add({ name: 'Havblik Cykler', website: 'havblik.dk' });
    const better = fixture.emulator.add({ ...nordlys, phone: '86123456' });
    await fixture.match();
    const { lines } = await planOf(fixture, false);
    expect(lines.map(({ record }) => record)).toEqual([better, certain, likely, none]);
    const cut = await surveyResults(fixture.store.db, 'hubspot', 2, here);
    expect(cut.lines).toHaveLength(2);
  });

  it('shows the record and its company side by side, their differences, and the rule of the confidence', async () => {
    const fixture = await withIndex({ engine });
    const [old, heir, bare] = [cvrNumber(11), cvrNumber(12), cvrNumber(13)];
    const shop = { form: 'ApS', address: { street: 'Ringvej 1', postalCode: '8000', city: 'Aarhus C' } };
    const entries = [
      entry(old, 'Fjordbyg ApS', { ...shop, ended: '2021-05-01' }),
      entry(heir, 'Fjordbyg ApS', { ...shop, phone: '86111111', website: 'fjordbyg.dk' }),
      entry(bare, 'Fjordbyg ApS', { address: { street: 'Havnegade 3', postalCode: '5000', city: 'Odense C' } }),
      entry(cvrNumber(14), 'Solvind A/S', { phone: '86333333' }),
    ];
    await fixture.store.write((tx) => storeEntries(tx, entries));
    const text = { address: 'Ringvej 9', zip: '8000', city: 'Aarhus', phone: '86111199', website: 'fjordbyg.dk' };
    const two = fixture.emulator.add({ ...text, name: 'Fjordbyg' });
    const phoned = fixture.emulator.add({ name: 'Kunde', phone: '86333333' });
    await fixture.match();
    const { lines } = await planOf(fixture, false);
    const lineFor = (id: string) => lines.find(({ record }) => record === id);
    expect(lineFor(two)).toMatchObject({
      number: heir,
      form: 'ApS',
      state: 'active',
      street: 'Ringvej 9',
      'company street': 'Ringvej 1',
      town: '8000 Aarhus',
      'company town': '8000 Aarhus C',
      phone: '86111199',
      'company phone': '86111111',
      website: 'fjordbyg.dk',
      'company website': 'fjordbyg.dk',
      differs: 'street, town, phone',
    });
    expect(lineFor(two)?.['others']).toMatch(
      new RegExp(`${bare} Fjordbyg ApS, Havnegade 3, 5000 Odense C \\(\\d+\\)`, 'u'),
    );
    expect(lineFor(phoned)?.['note']).toMatch(/^only the phone speaks for it; same phone/u);
  });

  it('links nothing of a plan without link actions', async () => {
    const fixture = await withIndex({ engine });
    fixture.emulator.add(nordlys);
    await fixture.match();
    const { file, lines } = await planOf(fixture, false);
    expect(lines.map(({ action }) => action)).toEqual(['skip']);
    await fixture.run({ mode: { kind: 'file', file } });
    expect(await fixture.links()).toEqual({});
  });

  it('proposes the next best company instead of a rejected one', async () => {
    const fixture = await withIndex({ engine });
    const id = fixture.emulator.add({ ...nordlys, name: 'Nordlys Møbler Holding' });
    await fixture.match();
    expect(await found(fixture)).toEqual({ [id]: `certain ${B} ${A}` });
    const { file } = await planOf(fixture);
    writeFileSync(file, readFileSync(file, 'utf8').replace(';link;', ';reject;'));
    await fixture.run({ mode: { kind: 'file', file } });
    expect(await fixture.links()).toEqual({});
    await fixture.match();
    expect((await found(fixture))[id]).not.toContain(B);
  });

  it('does not link a record that got a number since the plan', async () => {
    const fixture = await withIndex({ engine });
    const id = fixture.emulator.add({ name: 'Havblik Cykler', website: 'havblik.dk' });
    await fixture.match();
    const { file } = await planOf(fixture);
    fixture.emulator.edit(id, { cvr_number: A });
    await fixture.run({ mode: { kind: 'file', file } });
    expect(await fixture.links()).toEqual({});
    expect(await fixture.note(id)).toMatch(/its number was blank when the plan was made/u);
  });

  it('links the companies of the plan, even if the register changed them since', async () => {
    const fixture = await withIndex({ engine });
    const id = fixture.emulator.add({ name: 'Havblik Cykler', website: 'havblik.dk' });
    await fixture.match();
    const { file } = await planOf(fixture);
    const renamed = entry(C, 'Solvind A/S', { website: 'havblik.dk', ended: '2026-01-31' });
    await fixture.store.write((tx) => storeEntries(tx, [renamed], { historyOn: '2026-01-31' }));
    await fixture.run({ mode: { kind: 'file', file } });
    expect(await fixture.links()).toEqual({ [id]: expect.stringContaining(C) });
    const next = fixture.emulator.add({ name: 'Havblik Cykler', website: 'havblik.dk' });
    await fixture.match();
    expect((await found(fixture))[next]).toBe(`dissolved ${C}`);
  });

  it('finds nothing in a CRM without any of the properties', async () => {
    const match = { property: 'cvr_number', ...NOWHERE };
    const fixture = await withIndex({ engine, connection: { match } });
    const id = fixture.emulator.add(nordlys);
    await fixture.match();
    expect(await found(fixture)).toEqual({ [id]: 'none' });
  });

  it('continues a match that was stopped, without another scan', async () => {
    let reads = 0;
    const stop = new AbortController();
    const fixture = await withIndex({
      engine,
      around: (connection) => ({
        scan: (...given) => {
          reads += 1;
          return connection.scan(...given);
        },
        read: (...given) => {
          stop.abort();
          return connection.read(...given);
        },
      }),
    });
    for (let at = 0; at < 150; at += 1) fixture.emulator.add({ ...nordlys, name: `Nordlys Møbler ${at}` });
    await expect(fixture.match(stop.signal)).rejects.toThrow();
    const scans = reads;
    expect(Object.keys(await found(fixture)).length).toBeLessThan(150);
    await fixture.match();
    expect(reads).toBe(scans);
    expect(Object.keys(await found(fixture))).toHaveLength(150);
  });
});

it('chooses at random, and the same records with the same seed', () => {
  const positions = Array.from({ length: 300 }, (_, at) => at);
  const first = choosePositions(positions, 20, 7);
  expect(first).toHaveLength(20);
  expect(new Set(first).size).toBe(20);
  expect(choosePositions(positions, 20, 7)).toEqual(first);
  expect(choosePositions(positions, 20, 8)).not.toEqual(first);
  expect(first).not.toEqual(positions.slice(0, 20));
  expect(choosePositions([1, 2], 20, 7)).toEqual([1, 2]);
});
