/** A reconcile has exactly those records read that would change their link: it never asks in vain, and misses none. */
import { expect, test } from 'vitest';
import type { PropertyValue, Read } from '../../../providers/provider.ts';
import { decideLink } from '../../../src/connector/follow/decide-link.ts';
import { findLink, type Link } from '../../../src/connector/links/links.ts';
import { MATCH, numberAt, setComparison } from './comparison.ts';

const STATES = [undefined, 'active', 'conflict', 'gone', 'removed', 'merged'] as const;
const ORIGINS = ['person', 'number'] as const;

/** What a record may hold, by its own company's number and another one's; undefined if the CRM does not list it. */
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

/** A link as it may stand, or none, and what its record holds. */
interface Case {
  readonly state: (typeof STATES)[number];
  readonly origin: (typeof ORIGINS)[number];
  readonly mismatch: (typeof DOUBTS)[number];
  readonly held: string;
}

const CASES: readonly Case[] = STATES.flatMap((state) => {
  // Without a link there is but one of each.
  const most = state === undefined ? 1 : undefined;
  return ORIGINS.slice(0, most).flatMap((origin) =>
    DOUBTS.slice(0, most).flatMap((mismatch) =>
      Object.keys(HELD).map((held): Case => ({ state, origin, mismatch, held })),
    ),
  );
});

test.each([false, true])(
  'a reconcile marks exactly the records that healing would change (autoLink %s)',
  async (autoLink) => {
    const fixture = await setComparison({ crm: { autoLink, hold: 'hold' }, pageSize: 50 });
    const isHeld = (properties: Readonly<Record<string, PropertyValue>>): boolean => properties['hold'] === 'yes';
    const rule = { match: MATCH, autoLink, isHeld };

    const linked = async (
      record: string,
      own: string,
      mismatch: string | null,
      one: Case,
    ): Promise<Link | undefined> => {
      const { state, origin } = one;
      if (state === undefined) return undefined;
      const desired = state === 'active' || state === 'conflict' ? 'on' : 'off';
      await fixture.link(record, `CVR-1-${own}`, { state, origin, desired, mismatch, observed: desired });
      return findLink(fixture.store.db, { provider: 'crm', recordId: record });
    };
    /** Sets a case up, and returns its record where healing would change the link. */
    const setUp = async (one: Case, index: number): Promise<readonly string[]> => {
      const [own, other] = [numberAt(2 * index), numberAt(2 * index + 1)];
      const mismatch = one.mismatch(other);
      const record = [one.state ?? 'none', one.origin, mismatch ?? 'sure', one.held, index].join(' ');
      const properties = HELD[one.held]?.(own, other);
      if (properties !== undefined) fixture.records.set(record, properties);
      if (one.state === undefined && properties === undefined) return [];
      const link = await linked(record, own, mismatch, one);
      const read: Read =
        properties === undefined ? { kind: 'gone', id: record } : { kind: 'found', id: record, properties };
      const { kind } = decideLink(link, read, rule);
      return kind === 'nothing' || kind === 'held' ? [] : [record];
    };

    const expected: string[] = [];
    for (const [at, one] of CASES.entries()) expected.push(...(await setUp(one, at + 1)));
    expect(expected.length).toBeGreaterThan(50);
    await fixture.reconcile({ implausible: true });
    expect(await fixture.lanes('heal:crm')).toEqual(expected.toSorted());
  },
);
