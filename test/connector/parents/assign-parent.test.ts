import { describe, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { currentSendContext } from '../../../src/connector/crm/send-guard.ts';
import { prepareDerived } from '../../../src/connector/derived.ts';
import { endLink } from '../../../src/connector/links/links.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { CHILD, id, linkAll, OTHER, OWNER, owned, setUp, sold, THIRD, writes } from './owners.ts';

describe.each(SUITE_ENGINES)('a company that owns more than half of another one (%s)', (engine) => {
  test('becomes the parent of its record, in any order of events and links', async () => {
    const fixture = await setUp({ engine });
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '66.67-90']);
    await fixture.give();
    expect(fixture.parents.get('child')).toBe('owner');
    expect(await fixture.reported('child', 'parent')).toEqual([`parent owner: ${OWNER} owns 66.67-90 %`]);

    await owned(fixture, OTHER, [THIRD, '100']);
    await fixture.link('other', OTHER);
    await fixture.give();
    expect(fixture.parents.get('other')).toBeUndefined();
    await fixture.link('third', THIRD);
    await fixture.give();
    expect(fixture.parents.get('other')).toBe('third');
    expect(await fixture.lanes('parent:crm')).toEqual([]);
  });

  test('is replaced by the next owner, or removed without one', async () => {
    const fixture = await setUp({ engine });
    await linkAll(fixture, { child: CHILD, owner: OWNER, other: OTHER });
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    await sold(fixture, CHILD, OWNER, OTHER);
    await fixture.give();
    expect(fixture.parents.get('child')).toBe('other');
    await sold(fixture, CHILD, OTHER);
    await fixture.give();
    expect(fixture.parents.get('child')).toBeNull();
    expect(writes(fixture)).toEqual(['parent child - owner', 'parent child owner other', 'parent child other -']);
  });

  test('is assigned by one look-up of its children when it is linked late', async () => {
    const fixture = await setUp({ engine });
    for (const number of [1, 2, 3]) await fixture.link(`child${number}`, id(number));
    for (const number of [1, 2, 3]) await owned(fixture, id(number), [id(9), '100']);
    await fixture.give();
    await fixture.link('owner', id(9));
    await fixture.give();
    expect([...fixture.parents]).toEqual([1, 2, 3].map((number) => [`child${number}`, 'owner']));
  });
});

describe("a person's choice", () => {
  test('is neither overwritten nor removed', async () => {
    const fixture = await setUp();
    fixture.parents.set('child', 'by-hand');
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(writes(fixture)).toEqual([]);
    expect(await fixture.reported('child', 'parent')).toEqual([
      `a person chose by-hand, it stays; ${OWNER} owns 100 %`,
    ]);
  });

  test('made during the look-up of owners is kept, because the parent is read again right before the write', async () => {
    const fixture = await setUp();
    await linkAll(fixture, { child: CHILD, owner: OWNER });
    await owned(fixture, CHILD, [OWNER, '100']);
    const { parents } = fixture;
    const get = parents.get.bind(parents);
    // The parents above the owner are read after the child's.
    parents.get = (record) => {
      if (record === 'owner') parents.set('child', 'by-hand');
      return get(record);
    };
    await fixture.give();
    expect([writes(fixture), get('child')]).toEqual([[], 'by-hand']);
  });

  test('made while the write waits is kept, because a read older than a second is repeated', async () => {
    const fixture = await setUp();
    await linkAll(fixture, { child: CHILD, owner: OWNER });
    await owned(fixture, CHILD, [OWNER, '100']);
    fixture.onWrite = async () => {
      fixture.time += 1_100;
      fixture.parents.set('child', 'by-hand');
      await currentSendContext()?.guard({
        method: 'PUT',
        url: 'http://crm.invalid',
        signal: AbortSignal.timeout(9_000),
      });
      return undefined;
    };
    await fixture.give();
    expect([fixture.parents.get('child'), await fixture.lanes('parent:crm')]).toEqual(['by-hand', []]);
    expect(await fixture.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
  });

  test("stays a person's even if it is the owner", async () => {
    const fixture = await setUp();
    fixture.parents.set('child', 'owner');
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(writes(fixture)).toEqual([]);
  });
});

describe('no parent is guessed', () => {
  test('for an owner with two records, or none', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('one', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    await fixture.link('two', OWNER);
    await fixture.give();
    const end = { provider: 'crm', state: 'removed', reason: 'by a person', now: fixture.time } as const;
    for (const recordId of ['one', 'two']) await fixture.store.write((tx) => endLink(tx, { ...end, recordId }));
    await owned(fixture, CHILD, [OWNER, '90-100']);
    await fixture.give();
    expect(writes(fixture)).toEqual(['parent child - one']);
  });

  test('but our parent of a former owner is removed', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    await sold(fixture, CHILD, OWNER, OTHER);
    await fixture.give();
    expect(fixture.parents.get('child')).toBeNull();
  });
});

describe('after a fault', () => {
  test('a parent whose answer was lost is recognised as ours', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    fixture.onWrite = (record) => {
      fixture.parents.set(record, 'owner');
      throw new ProviderError('unavailable', 'no answer came');
    };
    await fixture.give();
    fixture.onWrite = undefined;
    fixture.time += 60_000;
    await fixture.give();
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(writes(fixture)).toEqual(['parent child - owner', 'parent child owner -']);
  });

  test('a parent that the CRM merged into another record stays ours', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    await fixture.store.write((tx) =>
      tx.updateTable('link').set({ record_id: 'survivor' }).where('record_id', '=', 'owner').execute(),
    );
    fixture.parents.set('child', 'survivor');
    await owned(fixture, CHILD, [OWNER, '90-100']);
    await fixture.give();
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(writes(fixture)).toEqual(['parent child - owner', 'parent child survivor -']);
  });

  test('a refused parent waits for a person, and missing rights stop only the parents', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    fixture.onWrite = (record) => ({ kind: 'rejected', id: record, reason: 'not below itself', properties: {} });
    await fixture.give();
    expect(await fixture.lanes('parent:crm')).toEqual(['child not below itself']);
    fixture.onWrite = () => {
      throw new ProviderError('refused', 'no right to associations');
    };
    await owned(fixture, CHILD, [OWNER, '90-100']);
    await fixture.give();
    expect(await fixture.lanes('parent:crm')).toEqual(['child no right to associations']);
    expect(await fixture.crm.rateLimiter.blockedUntil()).toBeUndefined();
  });

  test('a deleted record is read by its sync', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    fixture.reads.set('child', { kind: 'gone', id: 'child' });
    await fixture.give();
    expect(await fixture.lanes('sync:crm')).toEqual(['child', 'owner']);
    expect(await fixture.lanes('parent:crm')).toEqual(['child deleted in the CRM']);
  });

  test('a record on hold waits', async () => {
    const fixture = await setUp();
    await fixture.link('child', CHILD);
    await fixture.link('owner', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    const until = fixture.time + 3_600_000;
    const ref = { provider: 'crm', recordId: 'child', property: '*' };
    await fixture.store.write((tx) =>
      setOverride(tx, ref, { kind: 'hold', once: false, until, reason: null }, fixture.time),
    );
    await fixture.give();
    expect(writes(fixture)).toEqual([]);
    fixture.time = until;
    await fixture.give();
    expect(fixture.parents.get('child')).toBe('owner');
  });
});

test('a connection that enables parents checks all its records once, and one that disables them checks none', async () => {
  const fixture = await setUp({ parent: false });
  await fixture.link('child', CHILD);
  await fixture.link('owner', OWNER);
  await owned(fixture, CHILD, [OWNER, '100']);
  expect(await fixture.lanes('parent:crm')).toEqual([]);
  const crm = { ...fixture.crm, parent: true };
  const prepare = (one: typeof crm) => fixture.store.write((tx) => prepareDerived(tx, [one], fixture.time));
  await prepare(crm);
  expect(await fixture.lanes('parent:crm')).toEqual(['child', 'owner']);
  await fixture.give();
  expect(fixture.parents.get('child')).toBe('owner');
  await prepare(crm);
  expect(await fixture.lanes('parent:crm')).toEqual([]);
  await prepare({ ...crm, parent: false });
  await prepare(crm);
  await prepare({ ...crm, parent: false });
  expect(await fixture.lanes('parent:crm')).toEqual([]);
});
