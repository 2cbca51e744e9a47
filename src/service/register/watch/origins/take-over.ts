/**
 * Finds what changed when another source takes the lead of a company. Both word the same facts in their own way, so
 * their values cannot be compared. It compares the new source's document with itself, read for the day of the stored
 * snapshot, or for an earlier day if that state is more like the stored one. Pure.
 */
import { isJsonObject } from '../../../../protocol/text/json.ts';
import type { Company } from '../../document/company.ts';
import type { DocumentHistory } from '../../document/document.ts';
import { isBody } from '../../document/relations.ts';
import type { Unit } from '../../document/unit.ts';
import { dayAfter } from '../../document/validity.ts';

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
  /** When the former source loaded its last document. */
  readonly loadedAt: string;
  readonly history: DocumentHistory | undefined;
}

/** The snapshot to compare with, and the parts that the new source has not stated yet. */
export function beforeTakeOver<S extends Company | Unit>({
  before,
  after,
  parts,
  loadedAt,
  history,
}: TakeOver<S>): {
  readonly before: S;
  readonly inherited: readonly string[];
} {
  if (parts.size === 0) return { before, inherited: [] };
  const formerly = formerStates(before, history);
  const inherited: string[] = [];
  const ownParts = new Map<Company | Unit, Set<string>>();
  for (const part of parts) {
    const [was, is] = [partOf(before, part), partOf(after, part)];
    if (is === was) {
      if (!isNothing(is)) inherited.push(part);
      continue;
    }
    const own =
      contentOf(is) === contentOf(was) ? after : (nearestTo({ before, was, part, loadedAt }, formerly) ?? after);
    ownParts.set(own, (ownParts.get(own) ?? new Set()).add(part));
  }
  const compared = [...ownParts].reduce<S>((to, [own, of]) => withPartsOf(to, own as S, of), before);
  return { before: compared, inherited };
}

/** How many days before the stored day a fact may begin or end that the register learnt later. */
const LATE_DAYS = 92;

/** Reads one state after the other, the latest first. */
function formerStates(before: Company | Unit, history: DocumentHistory | undefined) {
  let days: readonly string[] | undefined;
  const states: (Company | Unit)[] = [];
  return (at: number): Company | Unit | undefined => {
    if (history === undefined) return undefined;
    const { readOn, kind } = before;
    const first = dayAfter(readOn, -LATE_DAYS);
    days ??= [readOn, ...history.ends().filter((day) => day >= first && day < readOn)];
    for (let next = states.length; next <= at && next < days.length; next++) {
      const state = history.on(days[next] ?? readOn);
      if (state?.kind !== kind) return undefined;
      states.push(state);
    }
    return states[at];
  };
}

interface FormerPart {
  readonly before: Company | Unit;
  readonly was: unknown;
  readonly part: string;
  readonly loadedAt: string;
}

/**
 * The state in which the new source states what the former source stated last: that of the stored day, or a clearly
 * nearer earlier one, because the former source did not have the change yet. The stored state itself if no day shows
 * the former source's value: of several changes on one day, a day shows only the last. Undefined if the new source
 * states nothing.
 */
function nearestTo(
  { before, was, part, loadedAt }: FormerPart,
  stateAt: (at: number) => Company | Unit | undefined,
): Company | Unit | undefined {
  const stored = stateAt(0);
  if (stored === undefined) return undefined;
  const said = partOf(stored, part);
  const nearness = nearnessOf(wordsIn(was), wordsIn(said));
  const isUnknown = nearness < UNLIKE && !isNothing(said) && timeOf(said) > Date.parse(loadedAt);
  const best = nearestIn({ was, part, said, isUnknown, first: { state: stored, nearness } }, stateAt);
  if (isNothing(was)) return best.state;
  const isShownByNoDay = best.nearness <= 0 && nearness === 0 && !WORDED_APART.has(part);
  if (isShownByNoDay && (isUnknown || endsOn(before.readOn, part, [stored, stateAt(1)]))) return before;
  return isNothing(partOf(best.state, part)) ? undefined : best.state;
}

interface Near {
  readonly state: Company | Unit;
  readonly nearness: number;
}

/** `isUnknown`: the former source did not have the current value, so the state of the stored day is the farthest. */
function nearestIn(
  search: Pick<FormerPart, 'was' | 'part'> & {
    readonly said: unknown;
    readonly isUnknown: boolean;
    readonly first: Near;
  },
  stateAt: (at: number) => Company | Unit | undefined,
): Near {
  const { was, part, said, isUnknown, first } = search;
  const words = wordsIn(was);
  let best: Near = isUnknown ? { ...first, nearness: -1 } : first;
  for (let at = 1; best.nearness < 1; at++) {
    const state = stateAt(at);
    if (state === undefined) break;
    const own = nearnessOf(words, wordsIn(partOf(state, part)));
    const isNearer = isUnknown ? contentOf(partOf(state, part)) !== contentOf(said) : own >= first.nearness + CLEARLY;
    if ((own === 1 || isNearer) && own > best.nearness) best = { state, nearness: own };
  }
  return best;
}

/** Parts that the sources word differently by design: Datafordeler has fewer statuses of a company. */
export const WORDED_APART: ReadonlySet<string> = new Set(['status', 'credit', 'founders']);

/** Whether a part that is empty on a day had a value the day before. */
const endsOn = (
  day: string,
  part: string,
  [now, former]: readonly [Company | Unit, Company | Unit | undefined],
): boolean => isNothing(partOf(now, part)) && former?.readOn === dayAfter(day, -1) && !isNothing(partOf(former, part));

const CLEARLY = 0.25;
/** The least similarity of two values that may be one value in different words. */
const UNLIKE = 0.5;

/** When the register touched a part; NaN if it does not say. */
const timeOf = (part: unknown): number => Date.parse(isJsonObject(part) ? String(part['at']) : '');

/** The words and numbers of a part, without the time of its registration. */
function wordsIn(part: unknown): ReadonlySet<string> {
  if (typeof part === 'string') {
    const text = part.toLowerCase();
    // Mail addresses often have the same domain, which does not make them alike.
    return new Set(text.includes('@') ? [text.trim()] : text.match(/[\p{L}\p{N}]+/gu));
  }
  if (typeof part !== 'object' || part === null) return new Set(part == null ? [] : [String(part)]);
  const inner = Object.entries(part).filter(([key]) => key !== 'at');
  return inner.reduce<ReadonlySet<string>>((words, [, value]) => words.union(wordsIn(value)), new Set());
}

const nearnessOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number =>
  a.size + b.size === 0 ? 1 : a.intersection(b).size / a.union(b).size;

/** A part without the time of its registration. */
const contentOf = (part: unknown): string =>
  JSON.stringify(part, (key: string, value: unknown) => (key === 'at' ? undefined : value)) ?? '';

const isNothing = (part: unknown): boolean => {
  const content = contentOf(part);
  return EMPTY.has(content);
};

const EMPTY = new Set(['', 'null', '{"value":null}', '{"value":[]}', '{"members":[]}']);
