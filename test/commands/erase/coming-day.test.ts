/** What a document says of a coming day is told on that day, also where somebody else whom it names was erased. */
import { describe, expect, it } from 'vitest';
import { erase } from '../../../src/commands/erase/erase.ts';
import { readKeptRows } from '../../../src/commands/export/kept-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { document, ENTITY, name, person, relation, role } from '../../service/register/documents.ts';
import { DAY, START, setWatch } from '../../service/register/watch-fixture.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';

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

const eraseMember = (store: Store) =>
  erase(store, PERSON, {
    now: () => START,
    actor: { kind: 'user', name: 'birk' },
    signal: AbortSignal.timeout(60_000),
  });

describe.each(ENGINES)('a coming day on %s', (engine) => {
  it('is told of on the day where a person whom the document names was erased meanwhile', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(renamedSoon);
    await fixture.run();
    await eraseMember(fixture.store);
    expect(await rowsWith(fixture.store, 'Skovlund')).toEqual([]);
    expect(await rowsWith(fixture.store, '4000000001')).toEqual([]);
    fixture.forward(3 * DAY);
    await fixture.run('ahead');
    expect(await fixture.changes()).toMatchObject([{ entity: ENTITY, updates: { name: { after: 'Efter ApS' } } }]);
  });

  it('is left without a person whom the document names from that day on only', async () => {
    const fixture = await setWatch(await newStore(engine));
    const function_ = role('LEDELSESORGAN', 'Bestyrelse', 'Bestyrelsesmedlem', '2026-05-06');
    await fixture.tell(document({ deltagerRelation: [relation(person(4_000_000_001, 'Asta Skovlund'), function_)] }));
    await fixture.run();
    expect(await rowsWith(fixture.store, 'Skovlund')).toHaveLength(1);
    await eraseMember(fixture.store);
    expect(await rowsWith(fixture.store, 'Skovlund')).toEqual([]);
    expect(await rowsWith(fixture.store, '4000000001')).toEqual([]);
  });

  it('is among what export prints of a person whom the document names, and of nobody whose number is in hers', async () => {
    const fixture = await setWatch(await newStore(engine));
    const function_ = role('LEDELSESORGAN', 'Bestyrelse', 'Bestyrelsesmedlem', '2026-05-06');
    await fixture.tell(document({ deltagerRelation: [relation(person(4_000_000_001, 'Asta Skovlund'), function_)] }));
    await fixture.run();
    const exported = (entity: string) => Array.fromAsync(readKeptRows(fixture.store.db, [entity], { mentions: true }));
    expect(await exported(PERSON)).toMatchObject([{ table: 'snapshot', rows: [{ entity: ENTITY }] }]);
    expect(await exported('CVR-3-400000000')).toEqual([]);
  });

  it('is told of on the day where a person whom the document names had been erased before', async () => {
    const fixture = await setWatch(await newStore(engine));
    await eraseMember(fixture.store);
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
