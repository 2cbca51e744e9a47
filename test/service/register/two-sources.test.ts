/** Two sources fill one store: each states its own families, and a change of sources reports no false change. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documentOf } from '../../../src/commands/emulate/sample/document.ts';
import type { SampleCompany } from '../../../src/protocol/sample/company.ts';
import { isJsonObject } from '../../../src/protocol/text/json.ts';
import { type Claim, claim } from '../../../src/runtime/lanes/lanes.ts';
import { documentsIn, type RegisterSource, SourceError } from '../../../src/service/register/source/source.ts';
import { fetchMissing, requestCompany } from '../../../src/service/register/watch/fetch-missing.ts';
import { familiesOf } from '../../../src/service/register/watch/origins/origins.ts';
import { readDifferences, storeComparing } from '../../../src/service/register/watch/origins/second-readings.ts';
import { readProgress } from '../../../src/service/register/watch/progress.ts';
import { markWatch, registerTasks } from '../../../src/service/register/watch/watch.ts';
import { plansOf } from '../../connector/query-plans.ts';
import { SAMPLE_FOLDERS } from '../../support/outside.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { translated } from './source/datafordeler/translated.ts';
import { HOUR, type Json, ORDERS, twoSources } from './two-sources.ts';
import { DAY, life, oldCompany, START, setWatch } from './watch-fixture.ts';

/** A change of a company at noon of a day, days after the fixture's start. */
const dayOf = (days: number): string => new Date(START + days * DAY).toISOString().slice(0, 10);

describe.each(SUITE_ENGINES)('a store with two sources, on %s', (engine) => {
  test('reports no change when a source is added, removed, or replaces the other', async () => {
    const { say, changes, forward } = await twoSources(await newStore(engine));
    const document = documentOf(life(oldCompany(1)));
    for (const order of [...ORDERS, ...[...ORDERS].reverse(), ...ORDERS]) {
      forward(2 * HOUR);
      for (const origin of order) await say(origin, order, document);
    }
    expect(await changes()).toEqual([]);
  });

  test('reports the change that a new source brings with its first document', async () => {
    const { say, changes, forward } = await twoSources(await newStore(engine));
    const [first, ...rest] = life(oldCompany(2), {
      from: dayOf(2),
      is: { name: 'Nyt Navn ApS', phoneNumber: '11223344' },
    });
    await say('cvr', ['cvr'], documentOf([first]));
    forward(3 * DAY);
    await say('datafordeler', ['datafordeler'], documentOf([first, ...rest]));
    expect(await changes()).toMatchObject([
      { updates: { name: { after: 'Nyt  Navn  Anpartsselskab' }, phoneNumber: { after: '11223344' } } },
    ]);
    forward(DAY);
    await say('cvr', ['cvr'], documentOf([first, ...rest]));
    expect(await changes()).toHaveLength(1);
  });

  test('reports a change that comes within the hour after the leading source was removed', async () => {
    const { say, changes, forward } = await twoSources(await newStore(engine));
    const [first, ...rest] = life(oldCompany(9), { from: dayOf(0), is: { phoneNumber: '11223344' } });
    await say('cvr', ['cvr'], documentOf([first]));
    for (const versions of [[first], [first, ...rest]] as const) {
      forward(600_000);
      await say('datafordeler', ['datafordeler'], documentOf([...versions]));
    }
    expect(await changes()).toMatchObject([{ updates: { phoneNumber: { after: '11223344' } } }]);
  });

  /** A change of which the source that leads does not know when the other one takes over. */
  const UNKNOWN = {
    'on the same day': { from: dayOf(0), at: START + 3 * HOUR },
    'with an earlier first day': { from: dayOf(-20), at: START + 3 * HOUR },
  };
  const IS = { name: 'Nyt Navn ApS', phoneNumber: '11223344', email: null } as const;
  const WAS = { name: 'Et Gammelt ApS', phoneNumber: '70101010', email: 'post@eksempel.invalid' } as const;

  describe.each([
    ['cvr', 'datafordeler'],
    ['datafordeler', 'cvr'],
  ] as const)('from %s to %s', (former, next) => {
    test.each(Object.entries(UNKNOWN))('reports a change %s that only the new source knows', async (_, change) => {
      const { say, changes, forward } = await twoSources(await newStore(engine));
      const [first, ...rest] = life(oldCompany(12, WAS), { ...change, is: IS });
      await say(former, [former], documentOf([first]));
      forward(4 * HOUR);
      await say(next, [next], documentOf([first, ...rest]));
      const told = await changes();
      expect(told.map(({ updates }) => Object.keys(updates).sort())).toEqual([['email', 'name', 'phoneNumber']]);
      expect(told[0]?.updates).toMatchObject({ phoneNumber: { before: '70101010', after: '11223344' } });
      forward(2 * HOUR);
      await say(former, [former], documentOf([first, ...rest]));
      expect(await changes()).toHaveLength(1);
    });

    test.each<[string, Partial<SampleCompany>]>([
      ['back to what was there', WAS],
      ['to something else', { name: 'Tredje Firma A/S', phoneNumber: '55667788', email: 'c@tredje.invalid' }],
      ['to nothing', { name: 'Tredje Firma A/S', phoneNumber: null, email: null }],
    ])('reports the second change of one day, %s, if the former source knew the first', async (_, second) => {
      const { say, changes, forward } = await twoSources(await newStore(engine));
      const is = { name: 'Andet Foretagende A/S', phoneNumber: '11223344', email: 'ny@andet.invalid' };
      const [first, ...rest] = life(
        oldCompany(12, WAS),
        { from: dayOf(0), at: START + HOUR, is },
        { from: dayOf(0), at: START + 4 * HOUR, is: second },
      );
      await say(former, [former], documentOf([first]));
      forward(2 * HOUR);
      await say(former, [former], documentOf([first, ...rest.slice(0, 1)]));
      forward(3 * HOUR);
      await say(next, [next], documentOf([first, ...rest]));
      const told = (await changes()).map(({ updates }) => updates);
      expect(told).toHaveLength(2);
      const { phoneNumber, email } = second;
      expect(told[1]).toMatchObject({
        phoneNumber: { before: is.phoneNumber, after: phoneNumber },
        email: { before: is.email, after: email },
      });
      expect(told[1]).toHaveProperty('name');
    });

    test.each(Object.entries(UNKNOWN))('reports a change %s once if both know it', async (_, change) => {
      const { say, changes, forward } = await twoSources(await newStore(engine));
      const [first, ...rest] = life(oldCompany(12, WAS), { ...change, is: IS });
      await say(former, [former], documentOf([first]));
      forward(4 * HOUR);
      await say(former, [former], documentOf([first, ...rest]));
      expect(await changes()).toHaveLength(1);
      forward(2 * HOUR);
      await say(next, [next], documentOf([first, ...rest]));
      expect(await changes()).toHaveLength(1);
    });
  });

  test('reports what each source alone has, and takes the rest from the leading one', async () => {
    const { say, changes, forward } = await twoSources(await newStore(engine));
    const order = ['datafordeler', 'cvr'] as const;
    const [first, ...rest] = life(oldCompany(3), {
      from: dayOf(1),
      is: { name: 'Nyt Navn ApS', purpose: 'At prøve' },
    });
    for (const origin of order) await say(origin, order, documentOf([first]));
    forward(2 * DAY);
    await say('cvr', order, documentOf([first, ...rest]));
    expect((await changes()).map(({ updates }) => Object.keys(updates))).toEqual([['purpose']]);
    await say('datafordeler', order, documentOf([first, ...rest]));
    await say('cvr', order, documentOf([first, ...rest]), Date.now() + 10 * DAY);
    expect((await changes()).map(({ updates }) => Object.keys(updates))).toEqual([['purpose'], ['name']]);
  });

  test('counts differences that last for hours, and none once the sources agree', async () => {
    const store = await newStore(engine);
    const { say, forward, now, changes } = await twoSources(store);
    const order = ['cvr', 'datafordeler'] as const;
    await store.write((tx) => storeComparing(tx, order, now()));
    const [first, ...rest] = life(oldCompany(4), { from: dayOf(0), is: { phoneNumber: '11223344' } });
    await say('cvr', order, documentOf([first]));
    const said = async () => (await readDifferences(store.db, now()))[0];
    await say('datafordeler', order, documentOf([first, ...rest]));
    expect(await said()).toMatchObject({ compared: 1, differing: 0 });
    forward(7 * HOUR);
    expect(await said()).toMatchObject({ compared: 1, differing: 1, example: first.company.entityId });
    expect((await said())?.byEvent).toMatchObject({ phoneNumber: 1 });
    await say('cvr', order, documentOf([first, ...rest]));
    expect((await said())?.byEvent).not.toHaveProperty('phoneNumber');
    expect(await changes()).toMatchObject([{ updates: { phoneNumber: { after: '11223344' } } }]);
  });

  test('reports a future day in the documents of both', async () => {
    const { say, changes, run, forward } = await twoSources(await newStore(engine));
    const order = ['datafordeler', 'cvr'] as const;
    const versions = life(oldCompany(5), {
      from: dayOf(3),
      at: START - DAY,
      is: { email: 'ny@eksempel.invalid', powerToBind: 'Direktøren alene' },
    });
    for (const origin of order) await say(origin, order, documentOf(versions));
    expect(await changes()).toEqual([]);
    forward(4 * DAY);
    await run('ahead');
    expect((await changes()).flatMap(({ updates }) => Object.keys(updates)).sort()).toEqual(['email', 'powerToBind']);
    await run('ahead');
    expect(await changes()).toHaveLength(2);
  });
});

test('differences of the sources behind the first are counted by an index', async () => {
  const plans = await plansOf(async (db) => {
    await db.transaction().execute((tx) => storeComparing(tx, ['cvr', 'datafordeler'], START));
    await readDifferences(db, START);
  });
  expect(plans.filter((plan) => plan.includes('second_reading'))).toEqual([
    expect.stringMatching(/^SEARCH second_reading USING COVERING INDEX second_reading_origin/u),
  ]);
});

describe.each(SUITE_ENGINES)('two sources of which one is down, on %s', (engine) => {
  test('continue with the other one, in pages and for a requested company', async () => {
    const store = await newStore(engine);
    const down: RegisterSource = {
      ...{ name: 'cvr', origin: 'cvr', families: familiesOf('cvr') },
      page: () => Promise.reject(new SourceError('the register does not answer')),
      find: () => Promise.reject(new SourceError('the register does not answer')),
    };
    const document = documentOf(life(oldCompany(7)));
    const other = documentOf(life(oldCompany(8)));
    const up: RegisterSource = {
      ...{ name: 'datafordeler', origin: 'datafordeler', families: familiesOf('datafordeler') },
      page: async () => ({ documents: [translated(document, START)], cursor: 'end', more: false }),
      find: async () => ({ documents: [translated(other, START)] }),
    };
    const watch = await setWatch(store, { source: () => down });
    const deps = { ...watch.deps, origins: ['cvr', 'datafordeler'] as const };
    const tasks = registerTasks(deps, [
      { source: down, pollMs: 1_000 },
      { source: up, pollMs: 1_000 },
    ]);
    await store.write((tx) => markWatch(tx, tasks, watch.now()));
    const run = async (queue: string, work: (held: Claim) => Promise<unknown>) => {
      const held = await claim(store, queue, { limit: 9, now: watch.now(), leaseMs: 30_000 });
      for (const one of held) await work(one);
    };
    const { signal } = new AbortController();
    await run('watch', async (held) => tasks[held.key]?.(held, signal));
    await store.write((tx) => requestCompany(tx, oldCompany(8).entityId, watch.now()));
    await run('ask', (held) => fetchMissing(deps, [down, up], [held], signal));
    const known = await store.db.selectFrom('snapshot').select(['entity', 'origins']).orderBy('entity').execute();
    const entities = [oldCompany(7), oldCompany(8)].map(({ entityId }) => entityId).sort();
    expect(known).toEqual(entities.map((entity) => ({ entity, origins: 'datafordeler' })));
    const waiting = await store.db.selectFrom('lane').select(['queue', 'key', 'error']).where('error', 'is not', null);
    expect((await waiting.execute()).map(({ queue, key }) => `${queue} ${key}`).sort()).toEqual([
      `ask ${oldCompany(8).entityId}`,
      'watch cvr',
    ]);
    const progress = await readProgress(store.db, [down, up]);
    expect(progress?.parts).toMatchObject([{ source: 'datafordeler', name: 'documents' }]);
  });
});

describe.each(SAMPLE_FOLDERS)('the $kind documents', ({ folder }) => {
  const place = join(folder, 'cvr-es');
  const documents = readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => documentsOf(JSON.parse(readFileSync(join(place, name), 'utf8'))));

  test('report nothing when the sources change between them', async () => {
    const { say, changes, forward } = await twoSources(await newStore('sqlite'));
    expect(documents.length).toBeGreaterThan(3);
    for (const document of documents) {
      forward(2 * HOUR);
      // Versions of one company follow each other.
      await say('cvr', ['cvr'], document);
      const told = (await changes()).length;
      for (const order of [...ORDERS, ...ORDERS.toReversed()]) {
        forward(2 * HOUR);
        for (const origin of order) await say(origin, order, document);
      }
      expect((await changes()).slice(told)).toEqual([]);
    }
  });

  function documentsOf(json: unknown): readonly Json[] {
    return documentsIn(json).filter(
      (each): each is Json => isJsonObject(each) && ('Vrvirksomhed' in each || 'VrproduktionsEnhed' in each),
    );
  }
});
