import { describe, expect, test } from 'vitest';
import { CHILD, fixture, OTHER, OWNER, owned, sold, writes } from './owners.ts';

describe('a circle is never made', () => {
  test('of companies that own each other', async () => {
    const stage = await fixture();
    for (const [record, entity] of [
      ['a', CHILD],
      ['b', OWNER],
      ['c', OTHER],
    ] as const)
      await stage.link(record, entity);
    await owned(stage, CHILD, [OWNER, '100']);
    await owned(stage, OWNER, [OTHER, '100']);
    await owned(stage, OTHER, [CHILD, '100']);
    await stage.give();
    expect(writes(stage)).toEqual([]);
    expect(await stage.reported('a', 'parent')).toEqual([`no parent: ${CHILD} and ${OWNER} own each other`]);
  });

  test('nor with a parent that a person chose further up, or that we are just giving', async () => {
    const stage = await fixture();
    stage.parents.set('b', 'x').set('x', 'a');
    await stage.link('a', CHILD);
    await stage.link('b', OWNER);
    await owned(stage, CHILD, [OWNER, '100']);
    for (let round = 0; round < 7; round += 1) {
      await stage.give();
      stage.time += 120_000;
    }
    expect(writes(stage)).toEqual([]);
    expect(await stage.reported('a', 'parent')).toEqual(['no parent: b stands below this record in the CRM']);
    expect(await stage.lanes('parent:crm')).toEqual([]);

    const next = await fixture();
    next.parents.set('b', 'c');
    for (const [record, entity] of [
      ['a', CHILD],
      ['b', OWNER],
      ['c', OTHER],
    ] as const)
      await next.link(record, entity);
    await owned(next, CHILD, [OWNER, '100']);
    await owned(next, OTHER, [CHILD, '100']);
    await next.give();
    expect(writes(next)).toHaveLength(1);
  });
});

test('two companies that change places change them in the CRM too, whichever comes first', async () => {
  for (const [below, above] of [
    [CHILD, OWNER],
    [OWNER, CHILD],
  ] as const) {
    const stage = await fixture();
    await stage.link('a', CHILD);
    await stage.link('b', OWNER);
    await owned(stage, below, [above, '100']);
    await owned(stage, above);
    await stage.give();
    await sold(stage, below, above);
    await owned(stage, above, [below, '100']);
    await stage.give();
    const [from, to] = below === CHILD ? ['a', 'b'] : ['b', 'a'];
    expect(writes(stage)).toEqual([`parent ${from} - ${to}`, `parent ${from} ${to} -`, `parent ${to} - ${from}`]);
  }
});
