/** The safety limit: if many companies lose one kind of fact in one load, the loss waits for a decision. */
import { describe, expect, it } from 'vitest';
import { resolveReview } from '../../../../src/connector/review/resolve.ts';
import { readReview } from '../../../../src/connector/review/review-list.ts';
import { claim } from '../../../../src/runtime/lanes/lanes.ts';
import { readFullStates } from '../../../../src/service/items/full-state.ts';
import { compose } from '../../../../src/service/register/source/datafordeler/compose.ts';
import { ingestPage } from '../../../../src/service/register/watch/ingest-page.ts';
import { familiesOf } from '../../../../src/service/register/watch/origins/origins.ts';
import { releaseWithheld } from '../../../../src/service/register/watch/release-withheld.ts';
import { WITHHELD_QUEUE } from '../../../../src/service/register/watch/withheld.ts';
import { plansOf } from '../../../connector/query-plans.ts';
import { ENGINES, newStore } from '../../../support/stores.ts';
import { contact, document, type Json, name, person, relation, trulyOwns } from '../documents.ts';
import { rowsOfDocument } from '../source/datafordeler/translated.ts';
import { START, setWatch, type WatchFixture } from '../watch-fixture.ts';

const COMPANIES = 24;
const LEFT = '2026-05-01';

/** A company whose beneficial owner left, or did not, as it is loaded so many seconds after the start. */
const company = (at: number, seconds: number, left: boolean, fields: Json = {}): Json => {
  const owner = person(4_000_700_001 + at, `Ejer ${at}`);
  const owns = left ? trulyOwns('0.5', '0.5', '2020-01-01', LEFT) : trulyOwns('0.5', '0.5');
  return document({
    cvrNummer: 95_000_100 + at,
    deltagerRelation: [relation(owner, owns)],
    sidstIndlaest: new Date(START + seconds * 1_000).toISOString(),
    ...fields,
  });
};
const companies = (seconds: number, hasLeft: (at: number) => boolean, fields?: Json) =>
  Array.from({ length: COMPANIES }, (_, at) => company(at, seconds, hasLeft(at), fields));

async function filled(engine: 'sqlite' | 'postgres'): Promise<WatchFixture> {
  const fixture = await setWatch(await newStore(engine));
  await fixture.tell(...companies(0, () => false));
  await fixture.run();
  return fixture;
}

const waiting = async ({ store, now }: WatchFixture) =>
  (await readReview(store.db, now())).filter(({ about }) => about.startsWith(WITHHELD_QUEUE));

const answer = (fixture: WatchFixture, verb: 'accept' | 'keep') =>
  fixture.store.write((tx) => resolveReview(tx, verb, `lane/${WITHHELD_QUEUE}/*`, fixture.now()));

const ownersOf = async ({ store }: WatchFixture, at: number) =>
  (await readFullStates(store.db, [`CVR-1-${95_000_100 + at}`])).get(`CVR-1-${95_000_100 + at}`)?.company.bodies
    .trueOwnership.members.length;

it('withheld losses are found by an index, without reading every snapshot', async () => {
  const fixture = await filled('sqlite');
  const claimed = { queue: WITHHELD_QUEUE, key: '*', fence: 1, attempts: 0, since: 1, marks: 1, unended: 0 };
  const plans = await plansOf((db) =>
    releaseWithheld(
      { ...fixture.deps, store: { ...fixture.store, write: (work) => db.transaction().execute(work) } },
      claimed,
    ),
  );
  expect(plans.filter((plan) => /snapshot/u.test(plan))).toEqual([
    expect.stringMatching(/^SEARCH snapshot USING INDEX snapshot_withheld/u),
  ]);
});

describe.each(ENGINES)('the safety limit on %s', (engine) => {
  it('publishes nothing of a family that many companies lose, keeps it, and asks a person once', async () => {
    const fixture = await filled(engine);
    await fixture.tell(...companies(60, () => true, { navne: [name('Nyt Navn ApS')] }));
    await fixture.run();
    const told = await fixture.changes();
    expect(new Set(told.flatMap(({ updates }) => Object.keys(updates)))).toEqual(new Set(['name']));
    expect(told).toHaveLength(COMPANIES);
    expect(await ownersOf(fixture, 3)).toBe(1);
    expect(await waiting(fixture)).toMatchObject([
      { decides: true, verbs: ['accept', 'keep'], reason: expect.stringContaining('beneficialOwners (24 of 24') },
    ]);
    // The same again, loaded anew, is no news.
    await fixture.tell(...companies(120, () => true, { navne: [name('Nyt Navn ApS')] }));
    await fixture.run();
    expect(await fixture.changes()).toHaveLength(COMPANIES);
    expect(await waiting(fixture)).toHaveLength(1);
  });

  it('publishes it all once a person accepts it, and losses of the next days at once', async () => {
    const fixture = await filled(engine);
    await fixture.tell(...companies(60, (at) => at > 0));
    await fixture.run();
    expect(await fixture.changes()).toEqual([]);
    await answer(fixture, 'accept');
    const [held] = await claim(fixture.store, WITHHELD_QUEUE, { limit: 1, now: fixture.now(), leaseMs: 60_000 });
    if (held === undefined) throw new Error('the lane is not due');
    await releaseWithheld(fixture.deps, held);
    expect(await fixture.changes()).toHaveLength(COMPANIES - 1);
    expect((await fixture.changes())[0]?.updates.trueOwnership?.removed).toHaveLength(1);
    expect(await ownersOf(fixture, 3)).toBe(0);
    await fixture.tell(...companies(120, () => true));
    await fixture.run();
    expect(await fixture.changes()).toHaveLength(COMPANIES);
    expect(await waiting(fixture)).toEqual([]);
  });

  it('publishes all of it, however many companies lost it', async () => {
    const fixture = await setWatch(await newStore(engine));
    const many = (seconds: number, left: boolean) => Array.from({ length: 101 }, (_, at) => company(at, seconds, left));
    for (const documents of [many(0, false), many(60, true)]) {
      await fixture.tell(...documents);
      await fixture.run();
    }
    await answer(fixture, 'accept');
    const [held] = await claim(fixture.store, WITHHELD_QUEUE, { limit: 1, now: fixture.now(), leaseMs: 60_000 });
    if (held === undefined) throw new Error('the lane is not due');
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await releaseWithheld(fixture.deps, held);
    clearImmediate(next);
    // Requests get their turn after each part of them.
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(await fixture.changes()).toHaveLength(101);
    // And what goes in the days after is told at once, however much that is.
    for (const documents of [many(120, false), many(180, true)]) {
      await fixture.tell(...documents);
      await fixture.run();
    }
    expect([(await fixture.changes()).length, await waiting(fixture)]).toEqual([303, []]);
  });

  it('keeps the known facts if a person says so, asks no more, and reports nothing when they return', async () => {
    const fixture = await filled(engine);
    await fixture.tell(...companies(60, () => true));
    await fixture.run();
    await answer(fixture, 'keep');
    await fixture.tell(...companies(120, () => true, { reklamebeskyttet: true }));
    await fixture.run();
    expect(await waiting(fixture)).toEqual([]);
    await fixture.tell(...companies(180, () => false, { reklamebeskyttet: true }));
    await fixture.run();
    const events = new Set((await fixture.changes()).flatMap(({ updates }) => Object.keys(updates)));
    expect(events).toEqual(new Set(['commercialProtection']));
    expect(await ownersOf(fixture, 3)).toBe(1);
  });

  it('also asks if the documents no longer state it, and publishes it only once a person accepts it', async () => {
    const fixture = await filled(engine);
    await fixture.tell(...companies(60, () => false, { deltagerRelation: [] }));
    await fixture.run();
    expect(await fixture.changes()).toEqual([]);
    expect(await waiting(fixture)).toMatchObject([{ reason: expect.stringContaining('beneficialOwners (24 of 24') }]);
    expect(await ownersOf(fixture, 3)).toBe(1);
    await answer(fixture, 'accept');
    const [held] = await claim(fixture.store, WITHHELD_QUEUE, { limit: 1, now: fixture.now(), leaseMs: 60_000 });
    if (held === undefined) throw new Error('the lane is not due');
    await releaseWithheld(fixture.deps, held);
    expect(await fixture.changes()).toHaveLength(COMPANIES);
    expect(await ownersOf(fixture, 3)).toBe(0);
  });

  it('never removes names, however many documents lack them', async () => {
    const fixture = await filled(engine);
    await fixture.tell(...companies(60, () => false, { navne: [], virksomhedMetadata: null }));
    await fixture.run();
    expect([await fixture.changes(), await waiting(fixture)]).toEqual([[], []]);
  });

  it('publishes the few losses of an ordinary day', async () => {
    const fixture = await filled(engine);
    await fixture.tell(...companies(60, (at) => at < 4));
    await fixture.run();
    expect(await fixture.changes()).toHaveLength(4);
    expect(await waiting(fixture)).toEqual([]);
  });

  it('counts nothing as lost that Datafordeler did not read', async () => {
    const fixture = await setWatch(await newStore(engine));
    const page = async (seconds: number, { fax, phone }: { fax: boolean; phone: string }) => {
      const documents = Array.from({ length: COMPANIES }, (_, at) => {
        const said = company(at, 0, false, {
          telefaxNummer: [contact('33445566')],
          telefonNummer: [contact(phone)],
        });
        const { Telefaxnummer, ...rows } = rowsOfDocument(said);
        const loadedAt = new Date(START + seconds * 1_000).toISOString();
        return compose(fax && Telefaxnummer ? { ...rows, Telefaxnummer } : rows, loadedAt);
      });
      const families = familiesOf('datafordeler');
      const intake = { claims: [], broken: [], families, origin: 'datafordeler', begin: async () => {} } as const;
      await ingestPage(fixture.deps, documents, intake);
    };
    await page(0, { fax: true, phone: '11111111' });
    await page(60, { fax: false, phone: '22222222' });
    const told = await fixture.changes();
    expect(told).toHaveLength(COMPANIES);
    expect(new Set(told.flatMap(({ updates }) => Object.keys(updates)))).toEqual(new Set(['phoneNumber']));
    expect(await waiting(fixture)).toEqual([]);
    await page(120, { fax: true, phone: '22222222' });
    expect(await fixture.changes()).toHaveLength(COMPANIES);
  });
});
