/**
 * Facts: the register's current value of one field, folded from assertions in any order.
 *
 * The fold is commutative and idempotent: a value is the one with the greatest (clock, seq), and a list has a clock per
 * member. Late, repeated and reordered webhooks end in the same fact.
 */
import { type FieldName, type FieldValue, GROUPS, type Member } from '../../../providers/fields.ts';
import { type AssertedFigure, type AssertedValue, type Assertion, isMembers, type Scalar } from './assertion.ts';

/** The order of assertions about one field: clock, then arrival. */
export interface FactClock {
  readonly clock: string;
  readonly seq: number;
}

interface MemberState extends FactClock {
  readonly member: Member;
  readonly present: boolean;
}

/**
 * A list with the clocks of its changes. `whole`: when all members were last stated at once; older members are dropped.
 * Removed members leave a tombstone, so that a late "added" does not bring them back.
 */
export interface ListState {
  readonly whole: FactClock | null;
  readonly members: Readonly<Record<string, MemberState>>;
}

export interface Fact extends FactClock {
  readonly entity: string;
  readonly field: FieldName;
  readonly value:
    | { readonly scalar: Scalar; readonly figure?: AssertedFigure | undefined }
    | { readonly list: ListState };
}

export interface Folded {
  readonly fact: Fact;
  readonly changed: boolean;
  /** Older than the fact: recorded, not applied. */
  readonly stale: boolean;
}

export function fold(current: Fact | undefined, entity: string, assertion: Assertion, seq: number): Folded {
  const at: FactClock = { clock: assertion.clock, seq };
  const base = { entity, field: assertion.field, ...latest(at, current) };
  if (!isMembers(assertion)) {
    const { isStale, figure } = foldFigure(current, assertion, seq);
    if (current !== undefined && isStale) return { fact: current, changed: false, stale: true };
    const fact: Fact = { ...base, ...at, value: { scalar: assertion.now, figure } };
    const was = current !== undefined && 'scalar' in current.value ? current.value.scalar : undefined;
    return { fact, changed: was !== assertion.now, stale: false };
  }
  const state = current !== undefined && 'list' in current.value ? current.value.list : EMPTY;
  const next = foldList(state, assertion, at);
  const changed = JSON.stringify(visible(state)) !== JSON.stringify(visible(next));
  const stale = !changed && current !== undefined && isAfter(current, at);
  return { fact: { ...base, value: { list: next } }, changed, stale };
}

/** Whether the assertion is older than the fact or was taken back since; otherwise the figure to remember. */
function foldFigure(
  current: Fact | undefined,
  { clock, figure }: AssertedValue & { readonly clock: string },
  seq: number,
): { readonly isStale: boolean; readonly figure?: AssertedFigure | undefined } {
  if (current === undefined || figure === undefined)
    return { isStale: current !== undefined && isAfter(current, { clock, seq }), figure };
  const known = 'scalar' in current.value ? current.value.figure : undefined;
  const [was, is] = [placeOf(current.clock), placeOf(clock)];
  if (
    known !== undefined &&
    is.period < was.period &&
    is.time > was.time &&
    (figure.whole || figure.before === known.now)
  )
    return { isStale: false, figure };
  const wasTakenBack =
    is.period > was.period && is.time < was.time && (known?.whole === true || known?.before === figure.now);
  if (wasTakenBack || isAfter(current, { clock, seq })) return { isStale: true };
  // A correction within the period keeps the figure that the period replaced.
  const before = is.period === was.period && known !== undefined ? known.before : figure.before;
  return { isStale: false, figure: { ...figure, before } };
}

function placeOf(clock: string): { readonly period: string; readonly time: string } {
  const at = clock.indexOf('@');
  return { period: clock.slice(0, at), time: clock.slice(at + 1) };
}

const EMPTY: ListState = { whole: null, members: {} };

const isAfter = (a: FactClock, b: FactClock): boolean => a.clock > b.clock || (a.clock === b.clock && a.seq > b.seq);

const latest = (at: FactClock, current: Fact | undefined): FactClock =>
  current !== undefined && isAfter(current, at) ? { clock: current.clock, seq: current.seq } : at;

function foldList(state: ListState, assertion: Extract<Assertion, { added: unknown }>, at: FactClock): ListState {
  const whole = assertion.whole === true && (state.whole === null || isAfter(at, state.whole)) ? at : state.whole;
  const members = new Map(Object.entries(state.members));
  const put = (id: string, member: Member, present: boolean) => {
    const known = members.get(id);
    if (known === undefined || !isAfter(known, at)) members.set(id, { member, present, ...at });
  };
  for (const id of assertion.removed) put(id, { id, name: id }, false);
  for (const member of assertion.added) put(member.id, member, true);
  const current = [...members].filter(([, each]) => whole === null || !isAfter(whole, each));
  return { whole, members: Object.fromEntries(current.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Created once: naming the language at each comparison costs tens of milliseconds an event for a list of thousands. */
const BY_NAME = new Intl.Collator('da');

/** The present members, by name; `complete` once all were stated together. */
export function visible(state: ListState): { readonly members: readonly Member[]; readonly complete: boolean } {
  const members = Object.values(state.members)
    .filter((each) => each.present)
    .map((each) => each.member)
    .sort((a, b) => BY_NAME.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
  return { members, complete: state.whole !== null };
}

export const isKnownInPart = ({ value }: Fact): boolean => 'list' in value && value.list.whole === null;

/** Undefined for a list known in part, which is never written. */
export function factValue(fact: Fact): FieldValue | undefined {
  if ('scalar' in fact.value) return fact.value.scalar;
  const { members, complete } = visible(fact.value.list);
  return complete ? members : undefined;
}

/** Register values that this assertion reveals, the former one included, without blanks. */
export function knownValues(assertion: Assertion, folded: Folded): readonly FieldValue[] {
  if (isMembers(assertion)) {
    const value = folded.changed ? factValue(folded.fact) : undefined;
    return value === undefined ? [] : [value];
  }
  return [assertion.now, assertion.before ?? null].filter((value) => value !== null);
}

/** Fields that belong together, as one payload states them. */
export type Whole = Readonly<Partial<Record<FieldName, FieldValue>>>;

/** The known value of a whole address is stored under this name. */
export const WHOLE_ADDRESS = 'address';

export function knownAddresses(assertions: readonly Assertion[]): readonly Whole[] {
  const parts = assertions.flatMap((each) => (isMembers(each) || !ADDRESS.has(each.field) ? [] : [each]));
  const now = addressOf((field) => parts.find((part) => part.field === field)?.now);
  const before = addressOf((field) => parts.find((part) => part.field === field)?.before);
  return [now, before].filter((whole) => Object.values(whole).some((value) => value !== null));
}

const ADDRESS: ReadonlySet<FieldName> = new Set(GROUPS.address);

/** In a fixed order, so that equal addresses are stored once. */
export const addressOf = (read: (field: FieldName) => FieldValue | undefined): Whole =>
  Object.fromEntries(
    GROUPS.address.flatMap((field) => {
      const value = read(field);
      return value === undefined ? [] : [[field, value]];
    }),
  );

/**
 * Whether the company's records must be decided again: the value changed, or a known earlier value shows that an
 * apparent edit is the register's.
 */
export const concernsRecords = (assertion: Assertion, folded: Folded): boolean =>
  folded.changed || (!isMembers(assertion) && (folded.stale || (assertion.before ?? null) !== null));
