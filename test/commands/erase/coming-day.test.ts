/** What a document says of a coming day is told on that day, also if somebody else whom it names was erased. */
import { describe, expect, it } from 'vitest';
import { readEntityRows } from '../../../src/commands/erase/erase-entity.ts';
import { document, ENTITY, name, person, relation, role } from '../../service/register/documents.ts';
import { DAY, setWatch } from '../../service/register/watch-fixture.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';
import { eraseByHand } from './by-hand.ts';

const PERSON = 'CVR-3-4000000001';
const member = relation(
  person(4_000_000_001, 'Asta Skovlund'),
  role('LEDELSESORGAN', 'Bestyrelse', 'Bestyrelsesmedlem'),
);
/** It is called otherwise from two days after the fixture's start on. */
const renamedSoon = document({
  navne: [name('Før ApS', '2020-01-01', '2026-05-05'), name('Efter ApS', '2026-05-06')],
  deltagerRelation: [member],
});

/** It gets her on its board on that day. */
const electedSoon = document({
  deltagerRelation: [
    relation(
      person(4_000_000_001, 'Asta Skovlund'),
      role('LEDELSESORGAN', 'Bestyrelse', 'Bestyrelsesmedlem', '2026-05-06'),
    ),
  ],
});

describe.each(SUITE_ENGINES)('a coming day on %s', (engine) => {
  it('is notified on the day although a person in the document was erased meanwhile', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(renamedSoon);
    await fixture.run();
    await eraseByHand(fixture.store, PERSON);
    expect(await rowsWith(fixture.store, 'Skovlund')).toEqual([]);
    expect(await rowsWith(fixture.store, '4000000001')).toEqual([]);
    fixture.forward(3 * DAY);
    await fixture.run('ahead');
    expect(await fixture.changes()).toMatchObject([{ entity: ENTITY, updates: { name: { after: 'Efter ApS' } } }]);
  });

  it('is stored without an erased person whom the document names only from that day on', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(electedSoon);
    await fixture.run();
    expect(await rowsWith(fixture.store, 'Skovlund')).toHaveLength(1);
    await eraseByHand(fixture.store, PERSON);
    expect(await rowsWith(fixture.store, 'Skovlund')).toEqual([]);
    expect(await rowsWith(fixture.store, '4000000001')).toEqual([]);
  });

  it('is exported for a person in the document, and not for a person whose number is part of that person’s', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(electedSoon);
    await fixture.run();
    const exported = (entity: string) =>
      Array.fromAsync(readEntityRows(fixture.store.db, entity, AbortSignal.timeout(60_000)));
    expect(await exported(PERSON)).toMatchObject([{ table: 'snapshot', rows: [{ entity: ENTITY }] }]);
    expect(await exported('CVR-3-400000000')).toEqual([]);
  });

  it('is notified on the day although a person in the document had been erased before', async () => {
    const fixture = await setWatch(await newStore(engine));
    await eraseByHand(fixture.store, PERSON);
    await fixture.tell(renamedSoon);
    await fixture.run();
    fixture.forward(3 * DAY);
    await fixture.run('ahead');
    expect(await fixture.changes()).toMatchObject([{ entity: ENTITY, updates: { name: { after: 'Efter ApS' } } }]);
    // The document once more, as the register repeats it, is no news.
    await fixture.tell(renamedSoon);
    await fixture.run();
    expect(await fixture.counts()).toMatchObject({ same: 1 });
  });
});
