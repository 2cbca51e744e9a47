/** The first load from the weekly files of Datafordeler, at its emulator. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rebuildIndex } from '../../../../../src/match/index/fill.ts';
import { matchRecords } from '../../../../../src/match/match.ts';
import { readDocument } from '../../../../../src/service/register/document/document.ts';
import { type RegisterSource, SourceError } from '../../../../../src/service/register/source/source.ts';
import { readRegisterEntries } from '../../../../../src/service/register/watch/index-entry.ts';
import { newStore, SUITE_ENGINES } from '../../../../support/stores.ts';
import { weeklyFixture } from '../../daf-fixture.ts';
import { sourceContract } from '../../source-contract.ts';
import { setWatch } from '../../watch-fixture.ts';

const { signal } = new AbortController();
const DAY = 24 * 3_600_000;
const TODAY = '2026-06-01';

describe('the weekly files', () => sourceContract(() => weeklyFixture({}, {}, 4)));

const loading = (companies = 6) => weeklyFixture({}, { companies });

/** Reads until the source has no more, opened anew before each page if `kills`. A page that fails is asked for again. */
async function readThrough(
  open: () => RegisterSource,
  {
    kills = false,
    most = 3_000,
    before = () => {},
  }: { kills?: boolean; most?: number; before?: (cursor: string) => void } = {},
) {
  const documents: unknown[] = [];
  /** Of the files alone: the feed begins an hour before them, and says much of it again. */
  const loaded: unknown[] = [];
  const failures: string[] = [];
  const troubles = new Set<string>();
  let source = open();
  let cursor: string | undefined;
  for (let pages = 0; pages < most; pages++) {
    if (kills) source = open();
    before(cursor ?? '');
    const page = await source.page(cursor, signal).catch(failure);
    if (typeof page === 'string') {
      failures.push(page);
      continue;
    }
    const found = [...page.documents];
    documents.push(...found);
    if (page.cursor.includes('"files"')) loaded.push(...found);
    if (page.trouble !== undefined) troubles.add(page.trouble);
    ({ cursor } = page);
    if (!page.more) return { documents, loaded, cursor, failures, troubles: [...troubles], source };
  }
  throw new Error('the load never ends');
}

const failure = (error: unknown): string => {
  if (error instanceof SourceError) return error.message;
  throw error;
};

/** Fax numbers cannot be asked for by company, only by row. */
const without = <S extends { readonly fax: unknown }>({ fax: _, ...rest }: S): Omit<S, 'fax'> => rest;

/** What documents say, by entity; the last one counts. */
function said(documents: Iterable<unknown>): Readonly<Record<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const document of documents) {
    const reading = readDocument(document, TODAY);
    if (reading.kind === 'company') found.set(reading.company.entity, { ...without(reading.company), loadedAt: '' });
    if (reading.kind === 'unit') found.set(reading.unit.entity, { ...without(reading.unit), loadedAt: '' });
  }
  return Object.fromEntries([...found].sort());
}

/** What the questions to GraphQL say of the same companies. */
async function asked({ source, emulator }: Awaited<ReturnType<typeof loading>>) {
  const numbers = [...emulator.tables.rowsOf('Virksomhed')].map((row) => String(row['CVRNummer']).padStart(8, '0'));
  return said((await source.find?.([...new Set(numbers)], signal))?.documents ?? []);
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
    : [];

describe('the first load from weekly files', () => {
  test.each(['csv', 'list', 'wrapped', 'lines'] as const)(
    'gives the same as queries, from files of %s',
    async (layout) => {
      const fixture = await loading();
      fixture.emulator.files.layout = layout;
      fixture.emulator.files.isLarge = layout === 'wrapped';
      fixture.emulator.publishFiles();
      const { loaded } = await readThrough(fixture.reopen);
      const expected = await asked(fixture);
      expect(Object.keys(expected).length).toBeGreaterThan(6);
      expect(said(loaded)).toMatchObject(expected);
      expect(filesIn(fixture.folder)).toEqual([]);
    },
  );

  test('continues with the feed, from an hour before the files', async () => {
    const fixture = await loading(3);
    const { documents, cursor, source } = await readThrough(fixture.reopen);
    expect(documents.length).toBeGreaterThan(3);
    fixture.clock.forward(2 * DAY);
    fixture.emulator.change();
    const page = await source.page(cursor, signal);
    expect([...page.documents].length).toBeGreaterThan(0);
    expect(source.parts?.(page.cursor)).toMatchObject({ changes: { more: false } });
  });

  test('resumes after a kill at every step, also during sorting', async () => {
    const fixture = await loading(4);
    const whole = await readThrough((await loading(4)).reopen);
    const { documents } = await readThrough(fixture.reopen, {
      kills: true,
      before(cursor) {
        const generation = /"generation":(\d+)/u.exec(cursor)?.[1];
        const place = join(fixture.folder, `generation-${generation}`, 'Navn');
        if (generation === undefined || existsSync(place)) return;
        // What a killed run left of a file that it sorted.
        mkdirSync(place, { recursive: true });
        writeFileSync(join(place, '7.tsv'), '4000000001\tNavn\t{"vaerdi":"from a run that was ki');
      },
    });
    expect(said(documents)).toEqual(said(whole.documents));
  });

  test.each([true, false])('resumes after broken transfers (ranges: %s)', async (hasRanges) => {
    const fixture = await loading(3);
    const { files } = fixture.emulator;
    files.hasRanges = hasRanges;
    files.breaks = { bytes: 150, times: 5 };
    const { failures, documents } = await readThrough(fixture.reopen, { kills: true });
    expect(failures).toHaveLength(5);
    expect(failures[0]).not.toContain(fixture.emulator.settings.apiKey);
    expect(files.asked.filter((each) => each.includes('bytes=150-')).length).toBeGreaterThan(0);
    expect(said(documents)).toMatchObject(await asked(fixture));
  });

  test('fetches a file again that differs from the listed one', async () => {
    const fixture = await loading(2);
    const file = join(fixture.folder, 'generation-525', 'CVR_V2_Virksomhed_TotalDownload_csv_Current_525.zip');
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, 'the beginning of something else');
    const { failures, documents } = await readThrough(fixture.reopen);
    expect(failures).toEqual([expect.stringContaining('is not the file that the list of Datafordeler names')]);
    expect(said(documents)).toMatchObject(await asked(fixture));
  });

  test('never mixes two generations, and uses none that has expired', async () => {
    const fixture = await loading(3);
    const { files } = fixture.emulator;
    let isPublished = false;
    const { documents } = await readThrough(fixture.reopen, {
      before() {
        if (isPublished || files.asked.length < 5) return;
        isPublished = true;
        fixture.clock.forward(8 * DAY);
        for (let changes = 0; changes < 20; changes++) fixture.emulator.change();
        fixture.emulator.publishFiles();
      },
    });
    const generations = files.asked.map((name) => name.split('_').at(-1));
    expect(generations).toEqual([...Array(5).fill('525.zip'), ...Array(14).fill('526.zip')]);
    expect(said(documents)).toMatchObject(await asked(fixture));
  });

  test('waits while no generation is complete', async () => {
    const fixture = await loading(2);
    fixture.clock.forward(8 * DAY);
    await expect(fixture.reopen().page(undefined, signal)).rejects.toThrow('no whole generation of weekly files');
  });

  test('waits while the list of files, or the feed that comes after them, is refused', async () => {
    const fixture = await loading(2);
    const { files } = fixture.emulator;
    files.refused.add('list');
    const refused = fixture.reopen().page(undefined, signal);
    await expect(refused).rejects.toMatchObject({ name: 'SourceError', retryAfterMs: 900_000 });
    files.refused.delete('list');
    const action = { kind: 'status', status: 403 } as const;
    fixture.emulator.fault({ match: 'CVR/v2', body: 'CVR_Events\\(', times: 1, action });
    const { failures } = await readThrough(fixture.reopen);
    expect(failures).toEqual([expect.stringContaining('check service.register.apiKey')]);
  });

  test('keeps the files until the cursor of the feed is stored', async () => {
    const fixture = await loading(2);
    let last = '';
    await readThrough(fixture.reopen, {
      before(cursor) {
        if (cursor.includes('"files"')) last = cursor;
        else if (last !== '') throw new Error('killed before the page was stored');
      },
    }).catch(() => {});
    const asked = fixture.emulator.files.asked.length;
    const { cursor } = await fixture.reopen().page(last, signal);
    expect(cursor).not.toContain('"files"');
    expect(fixture.emulator.files.asked).toHaveLength(asked);
    expect(filesIn(fixture.folder).length).toBeGreaterThan(0);
    await fixture.reopen().page(cursor, signal);
    expect(filesIn(fixture.folder)).toEqual([]);
  });

  test.each(['Navn', 'Kreditoplysninger'])(
    'removes the archive of %s if a run ended right after it was sorted',
    async (entity) => {
      const fixture = await loading(2);
      const left = join(fixture.folder, 'generation-525', `left_${entity}.zip`);
      const seen: boolean[] = [];
      await readThrough(fixture.reopen, {
        before() {
          if (seen.length === 1) seen.push(existsSync(left));
          if (seen.length > 1) throw new Error('seen');
          if (!existsSync(join(fixture.folder, 'generation-525', entity, 'sorted'))) return;
          writeFileSync(left, 'names');
          seen.push(true);
        },
      }).catch(() => {});
      expect(seen).toEqual([true, false]);
    },
  );

  test('leaves families unknown if the user may not read their files', async () => {
    const fixture = await loading(3);
    fixture.emulator.files.refused.add('Telefonnummer');
    const { loaded, troubles } = await readThrough(fixture.reopen, { kills: true });
    expect(troubles).toEqual([expect.stringContaining('Telefonnummer: unknown are phoneNumber')]);
    const companies = loaded.filter((each) => JSON.stringify(each).includes('"Vrvirksomhed"'));
    expect(companies.length).toBeGreaterThan(2);
    for (const each of companies) expect(JSON.stringify(each)).not.toContain('telefonNummer');
  });

  test('stores nothing of persons, not even on the disk', async () => {
    const fixture = await loading(2);
    const { tables } = fixture.emulator;
    const [company] = tables.rowsOf('Virksomhed');
    const partner = '4999888777';
    const row = {
      registreringFra: '2026-01-01T00:00:00Z',
      registreringTil: null,
      virkningFra: '2020-01-01',
      virkningTil: null,
    };
    tables.put(
      partner,
      {
        CVREnhed: [{ id: partner, enhedsType: 'CVRPerson', forretningsnoegle: 'secret-key', status: 'aktiv' }],
        Navn: [{ CVREnhedsId: partner, vaerdi: 'Prøve Pladsholder', sekvens: 0, ...row }],
        Adressering: [{ CVREnhedsId: partner, CVRAdresse_vejnavn: 'Hemmeligvej', ...row }],
        FuldtAnsvarligDeltagerRelation: [{ CVREnhedsId: company?.['id'], deltagendeEnhedsId: partner, ...row }],
      },
      fixture.clock.now(),
    );
    fixture.emulator.publishFiles();
    let isLooked = false;
    const { documents } = await readThrough(fixture.reopen, {
      before() {
        const onDisk = filesIn(fixture.folder).filter((name) => name.endsWith('.tsv'));
        isLooked ||= onDisk.some((name) => name.includes('Adressering'));
        for (const name of onDisk)
          expect(readFileSync(name, 'utf8')).not.toMatch(/Pladsholder|Hemmeligvej|secret-key/u);
      },
    });
    expect(isLooked).toBe(true);
    const text = JSON.stringify(documents);
    expect(text).not.toMatch(/Pladsholder|Hemmeligvej|secret-key/u);
    expect(text).toContain(partner);
  });
});

describe.each(SUITE_ENGINES)('a store that is filled from weekly files, on %s', (engine) => {
  test('has all companies, reports only new ones, and matches records', async () => {
    const { reopen, emulator } = await loading(5);
    const watch = await setWatch(await newStore(engine), { source: reopen });
    await watch.run();
    const companies = [...emulator.tables.rowsOf('Virksomhed')];
    const stored = await watch.store.db.selectFrom('snapshot').select(['entity', 'origins']).execute();
    expect(stored.filter(({ entity }) => entity.startsWith('CVR-1-'))).toHaveLength(companies.length);
    expect(new Set(stored.map(({ origins }) => origins))).toEqual(new Set(['datafordeler']));
    const told = new Set((await watch.changes()).flatMap(({ updates }) => Object.keys(updates)));
    expect([...told].filter((event) => event !== 'newCompany')).toEqual([]);
    const { store, now } = watch;
    await rebuildIndex({ store, now, report: () => {}, onProblem: () => {} }, readRegisterEntries, signal);
    const [name] = [...emulator.tables.rowsOf('Navn')].filter((row) => row['CVREnhedsId'] === companies[0]?.['id']);
    const [found] = await matchRecords(store.db, [{ name: String(name?.['vaerdi']) }]);
    expect(found?.candidates[0]?.company).toBe(String(companies[0]?.['CVRNummer']).padStart(8, '0'));
  });
});
