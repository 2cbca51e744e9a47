/** A merge in the CRM: the parent that cvrsync gave is its own on the survivor, too. */
import { describe, expect, test } from 'vitest';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { checkPendingWrites } from '../../../src/runtime/lanes/pending-writes.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import type { Fixture } from '../derived-fixture.ts';
import { CHILD, linkAll, OTHER, OWNER, owned, setUp, sold, writes } from './owners.ts';

/** Two records, one above the other by us. */
async function family(engine: (typeof ENGINES)[number]) {
  const fixture = await setUp({ engine });
  await fixture.link('child', CHILD);
  await fixture.link('owner', OWNER);
  await owned(fixture, CHILD, [OWNER, '100']);
  await fixture.give();
  expect(fixture.parents.get('child')).toBe('owner');
  fixture.time += 60_000;
  return fixture;
}

const merge = ({ store, time }: Fixture, from: string, to: string) =>
  store.write((tx) => moveLink(tx, { provider: 'crm', from, to, now: time }));

describe.each(SUITE_ENGINES)('a record that is merged (%s)', (engine) => {
  test('has a parent that is still ours, and is replaced by the next owner', async () => {
    const fixture = await family(engine);
    fixture.parents.set('merged', 'owner');
    expect(await merge(fixture, 'child', 'merged')).toBe('moved');
    await fixture.apply();
    await fixture.give();
    await fixture.link('other', OTHER);
    await sold(fixture, CHILD, OWNER, OTHER);
    await fixture.give();
    expect(fixture.parents.get('merged')).toBe('other');
    await sold(fixture, CHILD, OTHER);
    await fixture.give();
    expect(fixture.parents.get('merged')).toBeNull();
    expect(writes(fixture).slice(1)).toEqual(['parent merged owner other', 'parent merged other -']);
  });

  test('has a parent that is still ours if the survivor had none', async () => {
    const fixture = await family(engine);
    fixture.parents.set('twin', 'owner');
    await fixture.link('twin', CHILD);
    await fixture.give();
    expect(await merge(fixture, 'child', 'twin')).toBe('merged');
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(fixture.parents.get('twin')).toBeNull();
  });

  test('as the parent of another one is still ours, even if the company is sold at once', async () => {
    const fixture = await family(engine);
    fixture.parents.set('child', 'merged');
    await merge(fixture, 'owner', 'merged');
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(fixture.parents.get('child')).toBeNull();
  });

  test('gets its parent restored after a late write to the merged record', async () => {
    const fixture = await setUp({ engine });
    await linkAll(fixture, { child: CHILD, owner: OWNER, other: OTHER });
    fixture.onWrite = async (id) => {
      fixture.onWrite = undefined;
      fixture.time += 40_000;
      await merge(fixture, 'child', 'merged');
      await sold(fixture, CHILD, OWNER, OTHER);
      await fixture.give();
      expect(fixture.parents.get('merged')).toBe('other');
      fixture.parents.set('merged', 'owner');
      return { kind: 'written', id };
    };
    await owned(fixture, CHILD, [OWNER, '100']);
    await fixture.give();
    expect(fixture.parents.get('merged')).toBe('owner');
    fixture.time += 60_000;
    await fixture.store.write((tx) => checkPendingWrites(tx, fixture.time));
    await fixture.give();
    expect(fixture.parents.get('merged')).toBe('other');
  });

  test('keeps the parent that a person chose for the survivor', async () => {
    const fixture = await family(engine);
    fixture.parents.set('merged', 'by hand');
    await merge(fixture, 'child', 'merged');
    await fixture.apply();
    await fixture.give();
    await sold(fixture, CHILD, OWNER);
    await fixture.give();
    expect(fixture.parents.get('merged')).toBe('by hand');
  });
});
