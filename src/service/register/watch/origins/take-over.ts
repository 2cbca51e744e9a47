/**
 * What changed when another source takes the lead of a company. Both word the same facts in their own way, so the values
 * themselves say nothing: the new source's document is compared with itself, read for the day of the stored snapshot.
 * Pure.
 */
import type { Company } from '../../document/company.ts';
import { isBody } from '../../document/relations.ts';
import type { Unit } from '../../document/unit.ts';

const partOf = (snapshot: Company | Unit | undefined, part: string): unknown => {
  if (snapshot === undefined) return undefined;
  if (snapshot.kind === 'company' && isBody(part)) return snapshot.bodies[part];
  return Object.getOwnPropertyDescriptor(snapshot, part)?.value;
};

/** A snapshot with some parts of another one. */
export const withPartsOf = <S extends Company | Unit>(to: S, from: S | undefined, parts: ReadonlySet<string>): S => {
  if (from === undefined || parts.size === 0) return to;
  const own = [...parts].filter((part) => !isBody(part) && Object.hasOwn(from, part));
  const copy: S = { ...to, ...Object.fromEntries(own.map((part) => [part, partOf(from, part)])) };
  if (parts.has('names')) Object.assign(copy, { name: from.name });
  if (copy.kind !== 'company' || from.kind !== 'company') return copy;
  const bodies = [...parts].filter(isBody).map((body) => [body, from.bodies[body]]);
  return { ...copy, bodies: { ...copy.bodies, ...Object.fromEntries(bodies) } };
};

interface TakeOver<S> {
  readonly before: S;
  readonly after: S;
  /** The parts that the document's source leads from now on. */
  readonly parts: ReadonlySet<string>;
  /** What the document says of the day for which `before` was read. */
  readonly asOf: Company | Unit | undefined;
}

/** The snapshot to compare with, and the parts that the new source has not stated yet. */
export function beforeTakeOver<S extends Company | Unit>({
  before,
  after,
  parts,
  asOf,
}: TakeOver<S>): {
  readonly before: S;
  readonly inherited: readonly string[];
} {
  if (parts.size === 0) return { before, inherited: [] };
  const own = asOf?.kind === before.kind ? (asOf as S) : undefined;
  const inherited: string[] = [];
  const asAfter = new Set<string>();
  const asOwn = new Set<string>();
  for (const part of parts) {
    const [was, is, formerly] = [partOf(before, part), partOf(after, part), partOf(own, part)];
    if (is === was) {
      if (!isNothing(is)) inherited.push(part);
    } else if (contentOf(is) === contentOf(was) || (isNothing(formerly) && !isNothing(was))) asAfter.add(part);
    else asOwn.add(part);
  }
  return { before: withPartsOf(withPartsOf(before, after, asAfter), own ?? after, asOwn), inherited };
}

/** A part without the time of its registration. */
const contentOf = (part: unknown): string =>
  JSON.stringify(part, (key: string, value: unknown) => (key === 'at' ? undefined : value)) ?? '';

const isNothing = (part: unknown): boolean => {
  const content = contentOf(part);
  return EMPTY.has(content);
};

const EMPTY = new Set(['', 'null', '{"value":null}', '{"value":[]}', '{"members":[]}']);
