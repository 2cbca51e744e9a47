/**
 * Facts: what the register says now about one field, folded from statements in any order.
 *
 * The fold is commutative and idempotent: a value is the one with the greatest (clock, seq), a list keeps a clock per
 * member. So late, repeated and reordered webhooks all end in the same fact.
 */
import { type FieldName, type FieldValue, GROUPS, type Member } from '../../../providers/fields.ts';
import { type AssertedFigure, type AssertedValue, type Assertion, isMembers, type Scalar } from './assertion.ts';

/** The order of statements on one field: clock, then order of arrival. */
export interface FactClock {
  readonly clock: string;
  readonly seq: number;
}

interface MemberState extends FactClock {
  readonly member: Member;
  readonly present: boolean;
}

/**
 * A list with the marks that order its changes; `whole` is when all members were last stated at once, and nothing
 * older than that is kept. Those who left stay as marks, so that their coming cannot arrive after their leaving.
 */
export interface ListState {
  readonly whole: FactClock | null;
  readonly members: Readonly<Record<string, MemberState>>;
}

export interface Fact extends FactClock {
  readonly entity: string;
  readonly field: FieldName;
  readonly value: { readonly scalar: Scalar; readonly figure?: AssertedFigure } | { readonly list: ListState };
}

export interface Folded {
  readonly fact: Fact;
  /** The value that people and CRMs see is another one than before. */
  readonly changed: boolean;
  /** Older than what is known: recorded, not applied. */
  readonly stale: boolean;
}

/** Folds one statement into the fact on its field. */
export function fold(current: Fact | undefined, entity: string, assertion: Assertion, seq: number): Folded {
  const at: FactClock = { clock: assertion.clock, seq };
  const base = { entity, field: assertion.field, ...latest(at, current) };
  if (!isMembers(assertion)) {
    const { isStale, figure } = foldFigure(current, assertion, seq);
    if (current !== undefined && isStale) return { fact: current, changed: false, stale: true };
    const fact: Fact = { ...base, ...at, value: { scalar: assertion.now, ...(figure !== undefined && { figure }) } };
    const was = current !== undefined && 'scalar' in current.value ? current.value.scalar : undefined;
    return { fact, changed: was !== assertion.now, stale: false };
  }
  const state = current !== undefined && 'list' in current.value ? current.value.list : EMPTY;
  const next = foldList(state, assertion, at);
  const changed = JSON.stringify(visible(state)) !== JSON.stringify(visible(next));
  const stale = !changed && current !== undefined && isAfter(current, at);
  return { fact: { ...base, value: { list: next } }, changed, stale };
}

/** Whether a statement of a value is older than what is known, or was taken back since; else the figure to remember with it. */
function foldFigure(
  current: Fact | undefined,
  { clock, figure }: AssertedValue & { readonly clock: string },
  seq: number,
): { readonly isStale: boolean; readonly figure?: AssertedFigure } {
  if (current === undefined || figure === undefined)
    return { isStale: current !== undefined && isAfter(current, { clock, seq }), ...(figure && { figure }) };
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
  // A correction within the period leaves what that took back.
  const before = is.period === was.period && known !== undefined ? known.before : figure.before;
  return { isStale: false, figure: { ...figure, before } };
}

/** The period and the register's time of a clock. */
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
  const kept = [...members].filter(([, each]) => whole === null || !isAfter(whole, each));
  return { whole, members: Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Made once: with the language named at each comparison, a list of thousands takes tens of milliseconds an event. */
const BY_NAME = new Intl.Collator('da');

/** What a list amounts to: the members present, by name; not `complete` until all were stated at once. */
export function visible(state: ListState): { readonly members: readonly Member[]; readonly complete: boolean } {
  const members = Object.values(state.members)
    .filter((each) => each.present)
    .map((each) => each.member)
    .sort((a, b) => BY_NAME.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
  return { members, complete: state.whole !== null };
}

/** Whether a fact is a list of which only some members were told of. */
export const isKnownInPart = ({ value }: Fact): boolean => 'list' in value && value.list.whole === null;

/** The field's value for a CRM; undefined for a list that is not known in full, which is written nowhere. */
export function factValue(fact: Fact): FieldValue | undefined {
  if ('scalar' in fact.value) return fact.value.scalar;
  const { members, complete } = visible(fact.value.list);
  return complete ? members : undefined;
}

/** The field's values the register is known to have had by this statement, the one before included; blanks say nothing. */
export function knownValues(assertion: Assertion, folded: Folded): readonly FieldValue[] {
  if (isMembers(assertion)) {
    const value = folded.changed ? factValue(folded.fact) : undefined;
    return value === undefined ? [] : [value];
  }
  return [assertion.now, assertion.before ?? null].filter((value) => value !== null);
}

/** The values of fields that belong together, as one payload states them. */
export type Whole = Readonly<Partial<Record<FieldName, FieldValue>>>;

/** Stands for all fields of a group among the values that the register is known to have had. */
export const WHOLE_ADDRESS = 'address';

/** The addresses that a payload states, the one before included. */
export function knownAddresses(assertions: readonly Assertion[]): readonly Whole[] {
  const parts = assertions.flatMap((each) => (isMembers(each) || !ADDRESS.has(each.field) ? [] : [each]));
  const now = addressOf((field) => parts.find((part) => part.field === field)?.now);
  const before = addressOf((field) => parts.find((part) => part.field === field)?.before);
  return [now, before].filter((whole) => Object.values(whole).some((value) => value !== null));
}

const ADDRESS: ReadonlySet<FieldName> = new Set(GROUPS.address);

/** An address of these values; always in the same order, so that it is stored once. */
export const addressOf = (read: (field: FieldName) => FieldValue | undefined): Whole =>
  Object.fromEntries(
    GROUPS.address.flatMap((field) => {
      const value = read(field);
      return value === undefined ? [] : [[field, value]];
    }),
  );

/**
 * Whether the company's records must be decided anew: the value changed, or an earlier register value may have come to
 * light, so that what looked like a person's edit is none.
 */
export const concernsRecords = (assertion: Assertion, folded: Folded): boolean =>
  folded.changed || (!isMembers(assertion) && (folded.stale || (assertion.before ?? null) !== null));
