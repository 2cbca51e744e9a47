import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FillDeps, fillFromFile, rebuildIndex } from '../../../src/match/index/fill.ts';
import { readIndexState } from '../../../src/match/index/state.ts';
import { readEntries } from '../../../src/match/index/write.ts';
import { matchRecords } from '../../../src/match/match.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newFolder, newStore } from '../../support/stores.ts';
import { entry } from '../entries.ts';

const CSV = `number;company;name;otherNames;formerNames;street;postalCode;city;formerAddresses;phone;ended;unknown
10000001;;Nordlys Møbler ApS;Nordlys|Nord Lys;Solvind ApS (until 2021-05-01)|Gammelt Navn;Ringvej 1;8000;Aarhus C;Havnegade 12, 5000 Odense C (until 2020);86123456;;x
1234;;Forkert Nummer
10000002;;;
1000000011;;Uden Virksomhed
1000000012;10000001;Nordlys Lager
10000003;;Sidste ApS;;;;;;;;2020-01-31
`;
const JSON_LINES = `{"number":"10000001","name":"Nordlys Møbler ApS","otherNames":["Nordlys"],"formerNames":[{"name":"Solvind ApS","until":"2021-05-01"}],"street":"Ringvej 1","postalCode":8000}
{"number":"10000002",
[1, 2]

{"number":"10000003","name":"Sidste ApS"}
`;
const here = new AbortController().signal;

function fileOf(text: string): string {
  const file = path.join(newFolder(), 'companies.csv');
  writeFileSync(file, text);
  return file;
}

interface Watched extends FillDeps {
  readonly problems: string[];
}

function depsOf(store: Store): Watched {
  const problems: string[] = [];
  const onProblem: FillDeps['onProblem'] = ({ line, problem }) => void problems.push(`${line}: ${problem}`);
  return { store, now: () => 1_000, report: () => {}, onProblem, problems };
}

describe.each(ENGINES)('filling the company index on %s', (engine) => {
  it('reads CSV, names each broken line by its number, and reads the rest', async () => {
    const store = await newStore(engine);
    const deps = depsOf(store);
    expect(await fillFromFile(deps, fileOf(`\uFEFF${CSV}`), here)).toEqual({ entries: 3, problems: 3 });
    expect(deps.problems).toEqual([
      '3: number 1234 is neither a CVR number nor a P-number',
      '4: has no name',
      '5: the production unit 1000000011 names no company',
    ]);
    const entries = await readEntries(store.db, ['10000001', '1000000012', '10000003']);
    expect(entries.get('10000001')).toEqual({
      ...entry('10000001', 'Nordlys Møbler ApS'),
      otherNames: ['Nordlys', 'Nord Lys'],
      formerNames: [
        { value: 'Solvind ApS', until: '2021-05-01' },
        { value: 'Gammelt Navn', until: null },
      ],
      address: { street: 'Ringvej 1', postalCode: '8000', city: 'Aarhus C' },
      formerAddresses: [{ value: { street: 'Havnegade 12', postalCode: '5000', city: 'Odense C' }, until: '2020' }],
      phone: '86123456',
    });
    expect(entries.get('1000000012')?.company).toBe('10000001');
    expect(entries.get('10000003')?.ended).toBe('2020-01-31');
    expect((await readIndexState(store.db))?.phase).toBe('ready');
  });

  it('reads JSON lines', async () => {
    const store = await newStore(engine);
    const deps = depsOf(store);
    expect(await fillFromFile(deps, fileOf(JSON_LINES), here)).toEqual({ entries: 2, problems: 2 });
    expect(deps.problems.map((problem) => problem.slice(0, 14))).toEqual(['2: is not JSON', '3: is a list, ']);
    const [one] = (await readEntries(store.db, ['10000001'])).values();
    expect(one?.address).toEqual({ street: 'Ringvej 1', postalCode: '8000', city: null });
  });

  it('continues a file where it was stopped, and begins another one at its start', async () => {
    const store = await newStore(engine);
    const lines = Array.from({ length: 4_500 }, (_, at) =>
      JSON.stringify({ number: String(10_000_000 + at), name: `Firma ${at}` }),
    );
    const file = fileOf(lines.join('\n'));
    const stop = new AbortController();
    const stopped = fillFromFile({ ...depsOf(store), report: () => stop.abort() }, file, stop.signal);
    await expect(stopped).rejects.toThrow();
    expect(await readIndexState(store.db)).toMatchObject({ phase: 'building', position: '1000', entries: 1_000 });
    const stopInSort = new AbortController();
    const report: FillDeps['report'] = ({ position }) => void (position === 'sorting' && stopInSort.abort());
    await expect(fillFromFile({ ...depsOf(store), report }, file, stopInSort.signal)).rejects.toThrow();
    expect(await readIndexState(store.db)).toMatchObject({ phase: 'sorting', entries: 4_500 });
    expect(await fillFromFile(depsOf(store), file, here)).toEqual({ entries: 0, problems: 0 });
    const found = await matchRecords(store.db, [{ name: 'Firma 4499' }, { name: 'Firma 17' }]);
    expect(found.map(({ candidates }) => candidates[0]?.company)).toEqual(['10004499', '10000017']);
    expect(await readIndexState(store.db)).toMatchObject({ phase: 'ready', entries: 4_500 });
    expect((await readEntries(store.db, ['10000000', '10004499'])).size).toBe(2);
    expect((await fillFromFile(depsOf(store), fileOf(lines.slice(0, 10).join('\n')), here)).entries).toBe(10);
  });

  it('rebuilds from the register in steps, continues a rebuild that was stopped, and deletes old entries', async () => {
    const store = await newStore(engine);
    await fillFromFile(depsOf(store), fileOf(JSON_LINES), here);
    const all = Array.from({ length: 5_000 }, (_, at) => entry(String(20_000_000 + at), `Firma ${at}`));
    const read = async (_: unknown, after: string, limit: number) => {
      const entries = all.filter(({ number }) => number > after).slice(0, limit);
      return { entries, last: entries.at(-1)?.number };
    };
    const stop = new AbortController();
    const report: FillDeps['report'] = ({ entries }) => void (entries > 0 && stop.abort());
    await expect(rebuildIndex({ ...depsOf(store), report }, read, stop.signal)).rejects.toThrow();
    expect((await rebuildIndex(depsOf(store), read, here)).entries).toBe(4_000);
    expect(await readIndexState(store.db)).toMatchObject({ phase: 'ready', source: 'register', entries: 5_000 });
    expect((await readEntries(store.db, ['10000001', '20000000', '20004999'])).size).toBe(2);
  });
});
