import { describe, expect, test } from 'vitest';
import { CHILD, linkAll, OTHER, OWNER, owned, setUp, sold, writes } from './owners.ts';

describe('a circle is never created', () => {
  test('of companies that own each other', async () => {
    const fixture = await setUp();
    await linkAll(fixture, { a: CHILD, b: OWNER, c: OTHER });
    await owned(fixture, CHILD, [OWNER, '100']);
    await owned(fixture, OWNER, [OTHER, '100']);
    await owned(fixture, OTHER, [CHILD, '100']);
    await fixture.give();
    expect(writes(fixture)).toEqual([]);
    expect(await fixture.reported('a', 'parent')).toEqual([`no parent: ${CHILD} and ${OWNER} own each other`]);
  });

  test('with a parent that a person chose higher up, or that cvrsync is assigning', async () => {
    const fixture = await setUp();
    fixture.parents.set('b', 'x').set('x', 'a');
    await fixture.link('a', CHILD);
    await fixture.link('b', OWNER);
    await owned(fixture, CHILD, [OWNER, '100']);
    for (let round = 0; round < 7; round += 1) {
      await fixture.give();
      fixture.time += 120_000;
    }
    expect(writes(fixture)).toEqual([]);
    expect(await fixture.reported('a', 'parent')).toEqual(['no parent: b stands below this record in the CRM']);
    expect(await fixture.lanes('parent:crm')).toEqual([]);

    const next = await setUp();
    next.parents.set('b', 'c');
    await linkAll(next, { a: CHILD, b: OWNER, c: OTHER });
    await owned(next, CHILD, [OWNER, '100']);
    await owned(next, OTHER, [CHILD, '100']);
    await next.give();
    expect(writes(next)).toHaveLength(1);
  });
});

test('two companies that swap places swap them in the CRM, in any order', async () => {
  for (const [below, above] of [
    [CHILD, OWNER],
    [OWNER, CHILD],
  ] as const) {
    const fixture = await setUp();
    await fixture.link('a', CHILD);
    await fixture.link('b', OWNER);
    await owned(fixture, below, [above, '100']);
    await owned(fixture, above);
    await fixture.give();
    await sold(fixture, below, above);
    await owned(fixture, above, [below, '100']);
    await fixture.give();
    const [from, to] = below === CHILD ? ['a', 'b'] : ['b', 'a'];
    expect(writes(fixture)).toEqual([`parent ${from} - ${to}`, `parent ${from} ${to} -`, `parent ${to} - ${from}`]);
  }
});
