import { describe, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { setOverride } from '../../../src/connector/decide/override.ts';
import { prepareDerived } from '../../../src/connector/derived.ts';
import { endLink } from '../../../src/connector/links/links.ts';
import { ENGINES } from '../../support/stores.ts';
import { CHILD, fixture, id, OTHER, OWNER, owned, sold, THIRD, writes } from './owners.ts';

describe.each(ENGINES)('a company that owns more than half of another one (%s)', (engine) => {
  test('becomes the parent of its record, whichever is told or linked first', async () => {
    const stage = await fixture({ engine });
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '66.67-90']);
    await stage.give();
    expect(stage.parents.get('child')).toBe('owner');
    expect(await stage.reported('child', 'parent')).toEqual([`parent owner: ${OWNER} owns 66.67-90 %`]);

    await owned(stage, OTHER, [THIRD, '100']);
    await stage.link('other', OTHER);
    await stage.give();
    expect(stage.parents.get('other')).toBeUndefined();
    await stage.link('third', THIRD);
    await stage.give();
    expect(stage.parents.get('other')).toBe('third');
    expect(await stage.lanes('parent:crm')).toEqual([]);
  });

  test('gives way to the next owner, and where there is none our parent ends', async () => {
    const stage = await fixture({ engine });
    for (const [record, entity] of [
      ['child', CHILD],
      ['owner', OWNER],
      ['other', OTHER],
    ] as const)
      await stage.link(record, entity);
    await owned(stage, CHILD, [OWNER, '100']);
    await stage.give();
    await sold(stage, CHILD, OWNER, OTHER);
    await stage.give();
    expect(stage.parents.get('child')).toBe('other');
    await sold(stage, CHILD, OTHER);
    await stage.give();
    expect(stage.parents.get('child')).toBeNull();
    expect(writes(stage)).toEqual(['parent child - owner', 'parent child owner other', 'parent child other -']);
  });

  test('is found by one lookup of its children when it is linked late', async () => {
    const stage = await fixture({ engine });
    for (const number of [1, 2, 3]) await stage.link(`child${number}`, id(number));
    for (const number of [1, 2, 3]) await owned(stage, id(number), [id(9), '100']);
    await stage.give();
    await stage.link('owner', id(9));
    await stage.give();
    expect([...stage.parents]).toEqual([1, 2, 3].map((number) => [`child${number}`, 'owner']));
  });
});

describe("a person's choice", () => {
  test('is neither overwritten nor ended', async () => {
    const stage = await fixture();
    stage.parents.set('child', 'by-hand');
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    await stage.give();
    await sold(stage, CHILD, OWNER);
    await stage.give();
    expect(writes(stage)).toEqual([]);
    expect(await stage.reported('child', 'parent')).toEqual([`a person chose by-hand, it stays; ${OWNER} owns 100 %`]);
  });

  test("stays a person's also where it is the owner", async () => {
    const stage = await fixture();
    stage.parents.set('child', 'owner');
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    await stage.give();
    await sold(stage, CHILD, OWNER);
    await stage.give();
    expect(writes(stage)).toEqual([]);
  });
});

describe('what is not known is not guessed', () => {
  test('of an owner with two records, or with none any more', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('one', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    await stage.give();
    await stage.link('two', OWNER);
    await stage.give();
    const end = { provider: 'crm', state: 'removed', reason: 'by a person', now: stage.time } as const;
    for (const recordId of ['one', 'two']) await stage.store.write((tx) => endLink(tx, { ...end, recordId }));
    await owned(stage, CHILD, [OWNER, '90-100']);
    await stage.give();
    expect(writes(stage)).toEqual(['parent child - one']);
  });

  test('but a parent of ours that stands for a former owner ends', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    await stage.give();
    await sold(stage, CHILD, OWNER, OTHER);
    await stage.give();
    expect(stage.parents.get('child')).toBeNull();
  });
});

describe('what goes wrong', () => {
  test('a parent whose answer was lost is known for ours', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    stage.onWrite = (record) => {
      stage.parents.set(record, 'owner');
      throw new ProviderError('unavailable', 'no answer came');
    };
    await stage.give();
    stage.onWrite = undefined;
    stage.time += 60_000;
    await stage.give();
    await sold(stage, CHILD, OWNER);
    await stage.give();
    expect(writes(stage)).toEqual(['parent child - owner', 'parent child owner -']);
  });

  test('a parent that the CRM merged into another record stays ours', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    await stage.give();
    await stage.store.write((tx) =>
      tx.updateTable('link').set({ record_id: 'survivor' }).where('record_id', '=', 'owner').execute(),
    );
    stage.parents.set('child', 'survivor');
    await owned(stage, CHILD, [OWNER, '90-100']);
    await stage.give();
    await sold(stage, CHILD, OWNER);
    await stage.give();
    expect(writes(stage)).toEqual(['parent child - owner', 'parent child survivor -']);
  });

  test('one that the CRM refuses waits for a person; missing rights stop the parents alone', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    stage.onWrite = (record) => ({ kind: 'rejected', id: record, reason: 'not below itself', properties: {} });
    await stage.give();
    expect(await stage.lanes('parent:crm')).toEqual(['child not below itself']);
    stage.onWrite = () => {
      throw new ProviderError('refused', 'no right to associations');
    };
    await owned(stage, CHILD, [OWNER, '90-100']);
    await stage.give();
    expect(await stage.lanes('parent:crm')).toEqual(['child no right to associations']);
    expect(await stage.crm.rateLimiter.blockedUntil()).toBeUndefined();
  });

  test('a record that is gone is looked at by its sync', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    stage.reads.set('child', { kind: 'gone', id: 'child' });
    await stage.give();
    expect(await stage.lanes('sync:crm')).toEqual(['child', 'owner']);
    expect(await stage.lanes('parent:crm')).toEqual(['child deleted in the CRM']);
  });

  test('a record on hold waits', async () => {
    const stage = await fixture();
    await stage.link('child', CHILD);
    await stage.link('owner', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    const until = stage.time + 3_600_000;
    const ref = { provider: 'crm', recordId: 'child', property: '*' };
    await stage.store.write((tx) =>
      setOverride(tx, ref, { kind: 'hold', once: false, until, reason: null }, stage.time),
    );
    await stage.give();
    expect(writes(stage)).toEqual([]);
    stage.time = until;
    await stage.give();
    expect(stage.parents.get('child')).toBe('owner');
  });
});

test('a connection that is new to parents looks at all its records once, and one that is no longer at none', async () => {
  const stage = await fixture({ parent: false });
  await stage.link('child', CHILD);
  await stage.link('owner', OWNER);
  await owned(stage, CHILD, [OWNER, '100']);
  expect(await stage.lanes('parent:crm')).toEqual([]);
  const crm = { ...stage.crm, parent: true };
  const prepare = (one: typeof crm) => stage.store.write((tx) => prepareDerived(tx, [one], stage.time));
  await prepare(crm);
  expect(await stage.lanes('parent:crm')).toEqual(['child', 'owner']);
  await stage.give();
  expect(stage.parents.get('child')).toBe('owner');
  await prepare(crm);
  expect(await stage.lanes('parent:crm')).toEqual([]);
  await prepare({ ...crm, parent: false });
  await prepare(crm);
  await prepare({ ...crm, parent: false });
  expect(await stage.lanes('parent:crm')).toEqual([]);
});
