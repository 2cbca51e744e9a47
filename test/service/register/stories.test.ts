/**
 * Stories of companies, told by each source of the register and by two together: through the watcher, what the sources
 * carry is told once, and nothing else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/protocol/text/json.ts';
import { contentOf } from '../../../src/service/register/document/document.ts';
import { dayAfter } from '../../../src/service/register/document/validity.ts';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import { documentsIn } from '../../../src/service/register/source/source.ts';
import { SAMPLE_FOLDERS } from '../../support/outside.ts';
import { sampleDocuments } from '../../support/sample-documents.ts';
import { newFolder, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { CARRIED } from './carried.ts';
import { fixtureOf } from './cvr-fixture.ts';
import { dafFixture, weeklyFixture } from './daf-fixture.ts';
import { sampleSeries } from './sample-series.ts';
import { loadedAgain } from './source/datafordeler/translated.ts';
import type { SourceFixture } from './source-contract.ts';
import { DAY, setWatch } from './watch-fixture.ts';

type Teller = Pick<SourceFixture, 'source' | 'tell'>;

/** Each source, with the register that it reads. */
const OPEN = {
  cvr: (now) => fixtureOf({ now, pageSize: 50 }),
  file: async () => {
    const path = join(newFolder(), 'register.ndjson');
    await writeFile(path, '');
    return {
      source: createFileSource(path),
      tell: (documents) => appendFile(path, documents.map((one) => `${JSON.stringify(one)}\n`).join('')),
    };
  },
  datafordeler: (now) => dafFixture({ now }, { now }),
  'weekly files': (now) => weeklyFixture({ now }, { now }, 50),
} as const satisfies Readonly<Record<string, (now: () => number) => Promise<Teller>>>;
type Kind = keyof typeof OPEN;

const COMPANIES: readonly (readonly [Kind, ...Kind[]])[] = [
  ['cvr'],
  ['file'],
  ['datafordeler'],
  ['weekly files'],
  ['cvr', 'datafordeler'],
  ['datafordeler', 'cvr'],
  ['file', 'datafordeler'],
];

/** Whether one of the sources carries everything. */
const isWhole = (kinds: readonly Kind[]): boolean => kinds.some((kind) => kind === 'cvr' || kind === 'file');
const leadsInFewWords = ([first]: readonly Kind[]): boolean => first !== 'cvr' && first !== 'file';

/** What these sources tell of events; Datafordeler has fewer words for a status. */
const toldBy = (kinds: readonly Kind[], events: readonly string[]): readonly string[] =>
  events.filter((each) => {
    const event = each.split(' ').at(-1) ?? '';
    return (isWhole(kinds) || CARRIED.has(event)) && !(leadsInFewWords(kinds) && event === 'status');
  });

async function openStory(
  engine: (typeof SUITE_ENGINES)[number],
  kinds: readonly Kind[],
  options: { readonly newWithinDays?: number } = {},
) {
  const tellers: Teller[] = [];
  const watch = await setWatch(await newStore(engine), {
    ...options,
    async sources(now) {
      for (const kind of kinds) tellers.push(await OPEN[kind](now));
      const [first, ...others] = tellers.map(({ source }) => source);
      if (first === undefined) throw new Error('a story needs a source');
      return [first, ...others];
    },
  });
  let seen = 0;
  return {
    ...watch,
    async tell(...documents: readonly JsonObject[]): Promise<void> {
      for (const { tell } of tellers) await tell(documents.map((each) => loadedAgain(each, watch.now())));
    },
    /** Reads all sources, and what they stored for today; returns the events that come of it. */
    async read(): Promise<readonly string[]> {
      watch.forward(60_000);
      for (const { name } of watch.sources) await watch.run(name);
      await watch.run('ahead');
      const all = await watch.events();
      const found = all.slice(seen);
      seen = all.length;
      return found.filter((each) => !leadsInFewWords(kinds) || !each.endsWith(' status')).sort();
    },
  };
}

/** What files alone tell, which carry everything; found once. */
const whole = new Map<string, Promise<unknown>>();
function wholeOf<T>(story: string, tell: (kinds: readonly Kind[]) => Promise<T>): Promise<T> {
  const known = whole.get(story) ?? tell(['file']);
  whole.set(story, known);
  // Each story has one type.
  return known as Promise<T>;
}

const jsonObjects = (list: readonly unknown[]): readonly JsonObject[] => list.filter(isJsonObject);

/** The events of each document of a series, of which the first ones are told before the sources are read. */
async function storyOf(
  engine: (typeof SUITE_ENGINES)[number],
  kinds: readonly Kind[],
  { first, rest, ...options }: { first: readonly JsonObject[]; rest: readonly JsonObject[]; newWithinDays?: number },
): Promise<readonly (readonly string[])[]> {
  const { tell, read, forward, warnings } = await openStory(engine, kinds, options);
  await tell(...first);
  const told = [await read()];
  for (const document of rest) {
    forward(3_600_000);
    await tell(document);
    told.push(await read());
  }
  expect(warnings).toEqual([]);
  return told;
}

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  describe.each(COMPANIES.map((kinds) => [kinds.join(' and '), kinds] as const))('by %s', (_, kinds) => {
    test('the series of samples', async () => {
      const documents = jsonObjects(sampleSeries().map(({ document }) => document));
      const series = { first: documents.slice(0, 5), rest: documents.slice(5), newWithinDays: 120 };
      const all = await wholeOf('samples', (file) => storyOf('sqlite', file, series));
      expect(all.flat()).toHaveLength(17);
      expect(await storyOf(engine, kinds, series)).toEqual(all.map((events) => toldBy(kinds, events)));
    });

    test.each(SAMPLE_FOLDERS)('the states of one company, $kind', async ({ folder }) => {
      const place = join(folder, 'cvr-es');
      const series = join(place, readdirSync(place).find((name) => name.startsWith('derived-')) ?? '');
      const { tell, read, forward, now } = await openStory(engine, kinds);
      const steps: readonly { from: string; to: string; changes: object }[] = readJson(
        series,
        'reference-changes.json',
      );
      const files = [steps[0]?.from ?? '', ...steps.map(({ to }) => to)];
      const told: (readonly string[])[] = [];
      for (const file of files) {
        forward(Date.parse(file.slice(3, 13)) + DAY / 2 - now());
        const [document] = jsonObjects(documentsIn(readJson(series, file)));
        if (document === undefined) throw new Error(`${file} holds no document`);
        await tell(document);
        told.push(await read());
      }
      const expected = steps.map(({ changes }) => toldBy(kinds, Object.keys(changes).sort()));
      expect(told.slice(1).map((events) => events.map((each) => each.split(' ').at(-1)))).toEqual(expected);
    });

    test.each(SAMPLE_FOLDERS)('the days in the $kind documents', async ({ folder }) => {
      const place = join(folder, 'cvr-es');
      const files = readdirSync(place).filter((name) =>
        /^(?:virksomhed|produktionsenhed).*(?<!before)\.json$/u.test(name),
      );
      const documents = files.flatMap((file) => jsonObjects(documentsIn(readJson(place, file))));
      const days = daysIn(documents).filter((day) => day > '2022');
      const numbers = new Set(documents.map((each) => String(contentOf(each)?.['cvrNummer'])));
      // Datafordeler also serves the partners of a company, and each production unit.
      const isOfAll = (each: string) =>
        numbers.has(/^CVR-1-(\d+)/u.exec(each)?.[1] ?? '') && !each.endsWith(' pUnitUpdated');
      const tellDays = async (sources: readonly Kind[]) => {
        const { tell, read, forward, now } = await openStory(sources === kinds ? engine : 'sqlite', sources);
        forward(Date.parse('2022-01-01') + DAY / 2 - now());
        await tell(...documents);
        const told: Record<string, readonly string[]> = {};
        for (const day of ['2022-01-01', ...days]) {
          forward(Date.parse(day) + DAY / 2 - now());
          told[day] = (await read()).filter(isOfAll);
        }
        return told;
      };
      const all = await wholeOf(folder, tellDays);
      const expected = Object.entries(all).map(([day, events]) => [day, toldBy(kinds, events)]);
      expect(await tellDays(kinds)).toEqual(Object.fromEntries(expected));
      expect(Object.values(all).flat().length).toBeGreaterThan(1);
    });
  });

  test.each(COMPANIES.filter((kinds) => kinds.length > 1).map((kinds) => [kinds.join(' and '), kinds] as const))(
    'a long series, by %s',
    async (_, kinds) => {
      const documents = jsonObjects([...sampleDocuments(7, 6, 16)]);
      const series = { first: documents.slice(0, 6), rest: documents.slice(6) };
      const all = await wholeOf('long', (file) => storyOf('sqlite', file, series));
      expect(new Set(all.flat().map((each) => each.split(' ').at(-1))).size).toBeGreaterThan(5);
      expect(await storyOf(engine, kinds, series)).toEqual(all.map((events) => toldBy(kinds, events)));
    },
  );
});

const readJson = (...path: readonly string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

/** Days on which something in documents begins, or is over. */
const daysIn = (documents: readonly JsonObject[]): readonly string[] => {
  const stated = [...JSON.stringify(documents).matchAll(/"(gyldigFra|gyldigTil)":"(\d{4}-\d{2}-\d{2})/g)];
  return [...new Set(stated.map(([, end, day = '']) => (end === 'gyldigFra' ? day : dayAfter(day))))].sort();
};
