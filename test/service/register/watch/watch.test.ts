import { describe, expect, it } from 'vitest';
import { unitDocumentOf } from '../../../../src/commands/emulate/sample/unit.ts';
import { LONGEST_TEXT } from '../../../../src/protocol/shape.ts';
import { ENGINES, newStore } from '../../../support/stores.ts';
import { DAY, life, loaded, oldCompany, START, setWatch } from '../watch-fixture.ts';

const company = oldCompany(1);
const { entityId } = company;
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };
const moved = { from: '2026-05-04', at: START, is: { website: 'www.nyt.example' } };

describe.each(ENGINES)('watching on %s', (engine) => {
  it('stores the first version of a company without a change, then reports changes', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    expect(await fixture.changes()).toEqual([]);
    await fixture.tell(loaded(life(company, renamed), 0));
    await fixture.run();
    expect(await fixture.changes()).toEqual([
      { entity: entityId, name: 'Nyt Navn ApS', updates: { name: { before: company.name, after: 'Nyt Navn ApS' } } },
    ]);
    expect(await fixture.counts()).toEqual({ new: 1, changed: 1 });
  });

  it('skips a document that is repeated, or older than the stored one', async () => {
    const fixture = await setWatch(await newStore(engine));
    const [first, second] = [loaded(life(company), -100), loaded(life(company, renamed), 0)];
    await fixture.tell(first, second);
    await fixture.run();
    await fixture.tell(second, first, second);
    await fixture.run();
    expect(await fixture.events()).toEqual([`${entityId} name`]);
    expect(await fixture.counts()).toEqual({ new: 1, changed: 1, same: 2, late: 1 });
  });

  it('applies two versions of a company in one page in their order', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(
      loaded(life(company), -100),
      loaded(life(company, renamed), 0),
      loaded(life(company, renamed, moved), 60),
      loaded(life(company, { ...renamed, is: { name: company.name } }, moved), 120),
    );
    expect(await fixture.run()).toBe(1);
    const events = (await fixture.changes()).map(({ updates }) => updates);
    expect(events).toMatchObject([
      { name: { after: 'Nyt Navn ApS' } },
      { website: {} },
      { name: { after: company.name } },
    ]);
  });

  it('reports nothing if a document was only loaded again', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100), loaded(life(company), 0));
    await fixture.run();
    expect(await fixture.changes()).toEqual([]);
    const row = await fixture.store.db.selectFrom('snapshot').select('loaded_at').executeTakeFirstOrThrow();
    expect(row.loaded_at).toBe(new Date(START).toISOString());
  });

  it('quarantines what it cannot read, and ingests the rest of the page', async () => {
    const fixture = await setWatch(await newStore(engine));
    const other = oldCompany(2);
    await fixture.tell(
      loaded(life(company), -100),
      { Vrvirksomhed: { cvrNummer: 'none', navne: 7 } },
      null,
      [],
      'a text with a \u0000 in it',
      { Vrdeltagerperson: { enhedsNummer: 4_999_000_001 } },
      ...Array.from({ length: 40 }, (_, number) => ({ Vrukendt: number })),
      loaded(life(other), -90),
      loaded(life(company, renamed), 0),
    );
    await fixture.run();
    expect(await fixture.events()).toEqual([`${entityId} name`]);
    // `[]` in a line is a list of no documents.
    expect(await fixture.counts()).toEqual({ new: 2, changed: 1, unreadable: 43, person: 1 });
    const rows = await fixture.store.db
      .selectFrom('quarantine')
      .select(['source', 'subject', 'reason', 'body'])
      .orderBy('id')
      .execute();
    expect(rows).toHaveLength(20);
    expect(rows[0]).toMatchObject({
      source: 'register',
      subject: 'none',
      reason: expect.stringMatching(/CVR number/),
    });
    expect(fixture.warnings).toEqual([expect.stringContaining('quarantined')]);
  });

  it('quarantines a document with a text of excessive length, and keeps the stored state', async () => {
    const fixture = await setWatch(await newStore(engine));
    const endless = { from: '2026-05-04', is: { name: 'A'.repeat(LONGEST_TEXT + 1) } };
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    await fixture.tell(loaded(life(company, endless), 0), loaded(life(oldCompany(2)), 0));
    await fixture.run();
    expect(await fixture.events()).toEqual([]);
    expect(await fixture.counts()).toEqual({ new: 2, unreadable: 1 });
    const { reason } = await fixture.store.db.selectFrom('quarantine').select('reason').executeTakeFirstOrThrow();
    expect(reason).toContain(`has ${LONGEST_TEXT + 1} characters`);
  });

  it('reports a new company, and to its owner that it was founded', async () => {
    const fixture = await setWatch(await newStore(engine));
    const owner = oldCompany(2);
    const fresh = oldCompany(3, {
      started: '2026-05-01T00:00:00',
      ownership: [{ entityId: owner.entityId, name: owner.name, type: 'Company', ownership: '100' }],
    });
    await fixture.tell(loaded(life(owner), -100), loaded(life(fresh), 0));
    await fixture.run();
    const events = await fixture.events();
    expect(events).toContain(`${fresh.entityId} newCompany`);
    expect(events).toContain(`${owner.entityId} subsidiaryFounded`);
    expect(events).toHaveLength(2);
  });

  it('reports changes of a production unit to its company, and names units that come and go', async () => {
    const fixture = await setWatch(await newStore(engine));
    const versions = life(company);
    const unit = company.pUnits[0];
    if (unit === undefined) throw new Error('the sample has no unit');
    const since = { from: '2019-03-01', to: null, at: START - DAY };
    const unitIn = (name: string, loadedAt: number) =>
      unitDocumentOf(unit, versions, { loadedAt, names: [{ ...since, value: name }] });
    await fixture.tell(loaded(versions, -100), unitIn('Værkstedet', START - 90_000), unitIn('Lageret', START));
    await fixture.run();
    await fixture.tell(loaded(life(company, { from: '2026-05-04', is: { pUnits: [] } }), 60));
    await fixture.run();
    expect(await fixture.changes()).toMatchObject([
      {
        entity: entityId,
        name: company.name,
        updates: { pUnitUpdated: { entity: { entityId: unit.entityId, name: 'Lageret' } } },
      },
      {
        entity: entityId,
        updates: { pUnitRemoved: { entity: { entityId: unit.entityId, name: 'Lageret', type: 'Place' } } },
      },
    ]);
  });

  it('reports a merger to both parties once the second is seen', async () => {
    const fixture = await setWatch(await newStore(engine), { pageSize: 2 });
    const [one, two] = [oldCompany(4), oldCompany(5)];
    // The number of a merger is made from the other party: the same in both here.
    const entity = { entityId: one.entityId, name: one.name, type: 'Company' };
    const staying = { from: '2026-05-04', is: { merger: { entity, dissolved: false } } };
    const leaving = { from: '2026-05-04', is: { merger: { entity, dissolved: true } } };
    await fixture.tell(loaded(life(one), -100), loaded(life(two), -90));
    await fixture.run();
    await fixture.tell(loaded(life(one, staying), 0));
    await fixture.run();
    expect(await fixture.events()).toEqual([]);
    await fixture.tell(loaded(life(two, leaving), 10));
    await fixture.run();
    const told = await fixture.changes();
    expect(told.map(({ entity: of, updates }) => [of, updates.merger?.entity.entityId]).sort()).toEqual(
      [
        [one.entityId, two.entityId],
        [two.entityId, one.entityId],
      ].sort(),
    );
  });
});

describe('what begins later', () => {
  it('is reported on its day, by midnight in Copenhagen, and only once', async () => {
    const fixture = await setWatch(await newStore('sqlite'));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    await fixture.tell(loaded(life(company, { from: '2026-05-06', at: START, is: { name: 'I Overmorgen ApS' } }), 0));
    await fixture.run();
    await fixture.run('ahead');
    expect(await fixture.changes()).toEqual([]);
    const lane = await fixture.store.db.selectFrom('lane').selectAll().where('key', '=', 'ahead').executeTakeFirst();
    expect(lane?.due_at).toBeLessThanOrEqual(Date.UTC(2026, 4, 5, 22));
    fixture.forward(Date.UTC(2026, 4, 5, 21, 59) - START);
    await fixture.run('ahead');
    expect(await fixture.changes()).toEqual([]);
    fixture.forward(2 * 60_000);
    await fixture.run('ahead');
    await fixture.run('ahead');
    expect(await fixture.changes()).toMatchObject([
      { updates: { name: { before: company.name, after: 'I Overmorgen ApS' } } },
    ]);
    await fixture.tell(
      loaded(life(company, { from: '2026-05-06', at: START, is: { name: 'I Overmorgen ApS' } }), 200_000),
    );
    await fixture.run();
    expect(await fixture.changes()).toHaveLength(1);
  });

  it('makes the lane run on the day without a mark', async () => {
    const fixture = await setWatch(await newStore('sqlite'));
    await fixture.tell(loaded(life(company, { from: '2026-05-06', at: START, is: { name: 'Senere ApS' } }), 0));
    await fixture.run();
    const { due_at } = await fixture.store.db
      .selectFrom('lane')
      .selectAll()
      .where('key', '=', 'ahead')
      .executeTakeFirstOrThrow();
    expect(due_at).toBe(Date.UTC(2026, 4, 5, 22));
  });

  it('is dropped if its document becomes unreadable', async () => {
    const fixture = await setWatch(await newStore('sqlite'));
    await fixture.tell(loaded(life(company, { from: '2026-05-06', at: START, is: { name: 'Senere ApS' } }), 0));
    await fixture.run();
    await fixture.store.write((tx) => tx.updateTable('snapshot').set({ ahead: '{"Vrvirksomhed":{}}' }).execute());
    fixture.forward(2 * DAY);
    expect(await fixture.run('ahead')).toBe(2);
    expect(await fixture.counts()).toMatchObject({ unreadable: 1 });
  });
});

describe('the recoding of industries', () => {
  const industries = ['463900', '464900'] as const;
  const many = Array.from({ length: 60 }, (_, seed) => oldCompany(100 + seed));
  const coded = (code: string) => {
    return { industry: { period: null, industryCode: code, industryText: `Branche ${code}`, lastUpdated: null } };
  };
  const recoded = { from: '2026-05-04', is: coded(industries[1]) };

  it.each([
    [true, 0],
    [false, 60],
  ])('with the guard %s: %i companies report a code that all change on one day', async (recodingGuard, told) => {
    const fixture = await setWatch(await newStore('sqlite'), { recodingGuard });
    const before = many.map((one) => ({ ...one, ...coded(industries[0]) }));
    await fixture.tell(...before.map((one, index) => loaded(life(one), index - 1_000)));
    await fixture.run();
    await fixture.tell(...before.map((one, index) => loaded(life(one, recoded), index)));
    await fixture.run();
    expect((await fixture.events()).filter((event) => event.endsWith(' industry'))).toHaveLength(told);
  });

  it('is recognised even if the companies come one by one, and over a restart', async () => {
    const store = await newStore('sqlite');
    const before = many.map((one) => ({ ...one, ...coded(industries[0]) }));
    const first = await setWatch(store);
    await first.tell(...before.map((one, index) => loaded(life(one), index - 1_000)));
    await first.run();
    for (const [index, one] of before.entries()) {
      await first.tell(loaded(life(one, recoded), index));
      await first.run();
    }
    const told = (await first.events()).filter((event) => event.endsWith(' industry')).length;
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(30);
  });
});
