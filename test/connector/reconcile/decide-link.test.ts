/** A reconcile has exactly those records read that would change their link: it never asks in vain, and misses none. */
import { expect, test } from 'vitest';
import type { PropertyValue, Read } from '../../../providers/provider.ts';
import { decideLink } from '../../../src/connector/heal/decide-link.ts';
import { findLink, type Link } from '../../../src/connector/links/links.ts';
import { MATCH, numberAt, setComparison } from './comparison.ts';

const STATES = [undefined, 'active', 'conflict', 'gone', 'removed', 'merged'] as const;
const ORIGINS = ['person', 'number'] as const;

/** What a record may hold, by its own company's number and another one's; undefined where the CRM does not list it. */
const HELD: Readonly<
  Record<string, (own: string, other: string) => Readonly<Record<string, PropertyValue>> | undefined>
> = {
  deleted: () => undefined,
  blank: () => ({ [MATCH]: '' }),
  own: (own) => ({ [MATCH]: `DK ${own}` }),
  other: (_, other) => ({ [MATCH]: other }),
  text: () => ({ [MATCH]: 'ask Hanne' }),
  unit: () => ({ [MATCH]: '1000000020' }),
  unseen: () => ({}),
  held: (_, other) => ({ [MATCH]: other, hold: 'yes' }),
};
const DOUBTS: readonly ((other: string) => string | null)[] = [
  () => null,
  (other) => `CVR-1-${other}`,
  () => 'ask Hanne',
  () => '',
];

test.each([false, true])('a reconcile asks for what healing would change (autoLink %s)', async (autoLink) => {
  const fixture = await setComparison({ crm: { autoLink, hold: 'hold' }, pageSize: 50 });
  const isHeld = (properties: Readonly<Record<string, PropertyValue>>): boolean => properties['hold'] === 'yes';
  const rule = { match: MATCH, autoLink, isHeld };
  const expected: string[] = [];
  let at = 0;
  for (const state of STATES)
    for (const origin of state === undefined ? ORIGINS.slice(0, 1) : ORIGINS)
      for (const mismatch of state === undefined ? DOUBTS.slice(0, 1) : DOUBTS)
        for (const [name, holding] of Object.entries(HELD)) {
          at += 2;
          const [own, other] = [numberAt(at), numberAt(at + 1)];
          const record = [state ?? 'none', origin, mismatch(other) ?? 'sure', name, at].join(' ');
          const properties = holding(own, other);
          if (properties !== undefined) fixture.records.set(record, properties);
          if (state === undefined && properties === undefined) continue;
          let link: Link | undefined;
          if (state !== undefined) {
            const desired = state === 'active' || state === 'conflict' ? 'on' : 'off';
            await fixture.link(record, `CVR-1-${own}`, {
              state,
              origin,
              desired,
              mismatch: mismatch(other),
              observed: desired,
            });
            link = await findLink(fixture.store.db, { provider: 'crm', recordId: record });
          }
          const read: Read =
            properties === undefined ? { kind: 'gone', id: record } : { kind: 'found', id: record, properties };
          const { kind } = decideLink(link, read, rule);
          if (kind !== 'nothing' && kind !== 'held') expected.push(record);
        }
  await fixture.reconcile({ implausible: true });
  expect(await fixture.lanes('heal:crm')).toEqual(expected.toSorted());
});
