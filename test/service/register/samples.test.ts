import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleSeries as series } from '../../../src/commands/emulate/sample/stream.ts';
import { passesModulus11 } from '../../../src/protocol/cvr-number.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import { numberIn } from '../../../src/service/register/watch/read-page.ts';
import { sampleDocuments } from '../../support/sample-documents.ts';
import { newStore } from '../../support/stores.ts';
import { SERIES_FOLDER, sampleSeries } from './sample-series.ts';
import { setWatch } from './watch-fixture.ts';

/** The lists of a register document by their names. */
const listsOf = (document: unknown): readonly (readonly [string, readonly unknown[]])[] =>
  Object.values(document as object).flatMap((content: object) =>
    Object.entries(content).flatMap(([name, value]) => (Array.isArray(value) ? [[name, value] as const] : [])),
  );

describe('the series of sample documents', () => {
  it('equals its files', () => {
    const files = readdirSync(SERIES_FOLDER).filter((name) => name.endsWith('.json'));
    const held = files.map((file) => ({ file, document: JSON.parse(readFileSync(join(SERIES_FOLDER, file), 'utf8')) }));
    expect(held).toEqual(JSON.parse(JSON.stringify(sampleSeries())));
  });

  it('is small, and about companies that do not exist', () => {
    for (const { file, document } of sampleSeries()) {
      expect(statSync(join(SERIES_FOLDER, file)).size).toBeLessThan(15_000);
      const [number] = /(?<="cvrNummer":)\d+/.exec(JSON.stringify(document)) ?? [''];
      expect(Number(number)).toBeGreaterThan(95_000_000);
      expect(passesModulus11(number)).toBe(true);
    }
  });

  it('causes its changes in the watcher', async () => {
    const fixture = await setWatch(await newStore('sqlite'), {
      source: () => createFileSource(SERIES_FOLDER),
      newWithinDays: 120,
    });
    await fixture.run();
    const story = (await fixture.changes())
      .filter(({ entity }) => entity.startsWith('CVR-1-'))
      .map(({ name, updates }) => `${name}: ${Object.keys(updates).join(' ')}`);
    expect(story).toEqual([
      'Demodal Brød og Kage ApS: name address',
      'Skinbjerg Vindteknik A/S: board',
      'Papirtiger Software ApS: newCompany',
      'Luftkastel Holding ApS: subsidiaryFounded',
      'Skinbjerg Vindteknik A/S: pUnitUpdated',
      'Demodal Brød og Kage ApS: phoneNumber ownership',
      'Skinbjerg Vindteknik A/S: capital pUnitAdded monthlyEmployeeCount',
      'Fiktivby Fiskeri I/S: stakeholders',
      'Papirtiger Software ApS: status lifetimeEnded',
      'Luftkastel Holding ApS: merger',
      'Papirtiger Software ApS: merger',
      'Skinbjerg Vindteknik A/S: status',
    ]);
    expect(fixture.warnings).toEqual([]);
  });
});

describe('the endless series', () => {
  const take = (count: number, changes: number) => [...sampleDocuments(7, count, changes)];

  it('is the same for the same seed, and a longer one begins like a shorter one', () => {
    expect(take(4, 10)).toEqual(take(4, 10));
    expect(take(4, 30).slice(0, 18)).toEqual(take(4, 10));
    expect([...sampleDocuments(8, 4, 10)]).not.toEqual(take(4, 10));
  });

  // Of a company whose website came and went on one day, a chain on PostgreSQL expected a change that nobody may tell.
  it('states when the last entry of an emptied list ended', () => {
    const stated = new Set<string>();
    for (const { document } of series(144_533, 6, 60, { stepMs: 3 * 3_600_000 })) {
      for (const [list, entries] of listsOf(document)) {
        const key = `${numberIn(document)} ${list}`;
        if (stated.has(key)) expect(entries, key).not.toEqual([]);
        if (entries.length > 0) stated.add(key);
      }
    }
    expect(stated.size).toBeGreaterThan(30);
  });

  it('can be read, is loaded in order, and changes something each time', async () => {
    const readings = take(5, 200).map((document) => readDocument(document, '2026-05-04'));
    const times = readings.map((reading) => (reading.kind === 'unreadable' ? reading.reason : reading.loadedAt));
    expect(times).toEqual(times.toSorted());
    expect(new Set(times).size).toBe(times.length);

    const fixture = await setWatch(await newStore('sqlite'));
    await fixture.tell(...take(20, 300));
    await fixture.run();
    const { changed = 0 } = await fixture.counts();
    const told = (await fixture.changes()).filter(({ entity }) => entity.startsWith('CVR-1-'));
    expect(changed).toBeGreaterThan(280);
    // A share that is set to what it was, a status that is the same: few.
    expect(told.length).toBeGreaterThan(changed * 0.9);
  });
});
