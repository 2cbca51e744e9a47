/** Matches the answers for several records with the records, by id. Pure. */
import type { Outcome, ParentRead, Read, WrittenOutcome } from '../../../../providers/provider.ts';
import {
  type AnswerObject,
  type AnswerReading,
  boundedWait,
  type Flaw,
  idIn,
  isFlaw,
  isObject,
  isText,
  readList,
  reasonOf,
  reasonsOf,
  valuesOf,
} from './check-values.ts';
import { described } from './described.ts';
import type { IdForm } from './record-id.ts';

/** Reads one record's answer; a flaw if the answer is not valid. */
export type ReadOne<T> = (answer: AnswerObject, id: string) => T | Flaw;

export interface RecordReader<T extends object> {
  readonly read: ReadOne<T>;
  /** The answer for a record that the provider left out or answered for more than once. */
  readonly without: (id: string, reason: string) => T;
  readonly form: IdForm;
}

/** Returns one answer for each id, in the order of the ids. */
export const inOrder =
  <T extends object>(ids: readonly string[], { read, without, form }: RecordReader<T>) =>
  (answer: unknown): readonly T[] => {
    const { byId, nameless } = groupById(readList(answer), form);
    return ids.map((id) => {
      const [own, ...others] = byId.get(id) ?? [];
      if (own === undefined) return without(id, reasonForNoAnswer(id, nameless));
      if (others.length > 0) return without(id, 'the provider answered for this record more than once');
      const one = read(own, id);
      return isFlaw(one) ? without(id, `the provider answered for this record with ${one.flaw}`) : one;
    });
  };

interface Answers {
  readonly byId: ReadonlyMap<string, readonly AnswerObject[]>;
  /** Answers without an id are left out. */
  readonly nameless: readonly unknown[];
}

function groupById(answers: readonly unknown[], form: IdForm): Answers {
  const byId = new Map<string, AnswerObject[]>();
  const nameless: unknown[] = [];
  for (const answer of answers) {
    const spelled = isObject(answer) ? answer['id'] : undefined;
    if (!isObject(answer) || !isText(spelled)) {
      nameless.push(answer);
      continue;
    }
    const id = form(spelled) ?? spelled;
    const others = byId.get(id);
    if (others === undefined) byId.set(id, [answer]);
    else others.push(answer);
  }
  return { byId, nameless };
}

/** An answer without an id may be the missing one, so the reason mentions it. */
function reasonForNoAnswer(id: string, nameless: readonly unknown[]): string {
  const silence = 'the provider did not answer for this record';
  const ids = nameless.map((answer) => (isObject(answer) ? answer['id'] : answer));
  const [first] = nameless;
  const own = ids.find((each) => (typeof each === 'number' || typeof each === 'bigint') && String(each) === id);
  if (own !== undefined) return `the provider gave ${described(own)} as the id of this record: an id is a text`;
  if (nameless.length === 0) return silence;
  const seen = isObject(first) ? `has ${described(first['id'])} as its id` : `is ${described(first)}`;
  return `${silence}; one of its answers ${seen}: each is an object whose id is a text`;
}

/** A flaw that names the kinds allowed. */
const wrongKind = (allowed: string, { kind }: AnswerObject): Flaw => ({
  flaw: `${described(kind)} as its kind: it is ${allowed}`,
});

/** Undefined if the answer is of another kind. */
export function movedOrGone({ kind, to }: AnswerObject, id: string, form: IdForm) {
  if (kind === 'gone') return { kind: 'gone' as const, id };
  if (kind !== 'moved') return undefined;
  const survivor = idIn(to, form);
  if (typeof survivor !== 'string') return { flaw: `a move to ${survivor.flaw}` };
  if (survivor === id) return { flaw: `a move to ${described(to)}: "to" is another record, the survivor of a merge` };
  return { kind: 'moved' as const, id, to: survivor };
}

const retried = ({ kind, reason, retryAfterMs }: AnswerObject, id: string, reading: AnswerReading) => {
  if (kind !== 'retry') return undefined;
  const bounded = boundedWait(retryAfterMs);
  const wait = bounded === undefined ? {} : { retryAfterMs: bounded };
  return { kind: 'retry' as const, id, reason: reasonOf(reason, reading), ...wait };
};

export const asRead =
  (names: readonly string[], reading: AnswerReading): ReadOne<Read> =>
  (answer, id) => {
    if (answer['kind'] !== 'found')
      return (
        movedOrGone(answer, id, reading.form) ??
        retried(answer, id, reading) ??
        wrongKind('found, moved, gone or retry', answer)
      );
    const properties = valuesOf(answer['properties'], names);
    if (isFlaw(properties)) return properties;
    const { unreadable } = answer;
    const stated = Array.isArray(unreadable) && unreadable.length > 0 && { unreadable };
    return { kind: 'found', id, properties, ...stated };
  };

/** Properties that the answer leaves out without saying that they cannot be read. */
export const leftOut = (read: Read, names: readonly string[]): readonly string[] =>
  read.kind === 'found'
    ? names.filter((name) => !Object.hasOwn(read.properties, name) && read.unreadable?.includes(name) !== true)
    : [];

/** A retry if the answer leaves out a property that this CRM can read. */
export function wholeRead(
  read: Read,
  missing: string | undefined,
  without: (id: string, reason: string) => Read,
): Read {
  if (read.kind !== 'found') return read;
  const { kind, id, properties } = read;
  if (missing === undefined) return { kind, id, properties };
  return without(id, `the provider left out ${missing}, which was asked for and can be read: blank is null`);
}

/**
 * The values that a written record holds and held, if the answer states them. Invalid values are dropped: the record
 * was written all the same.
 */
function statedValues(
  { stored, replaced }: AnswerObject,
  names: readonly string[],
): Omit<WrittenOutcome, 'kind' | 'id'> {
  const [after, before] = [stored, replaced].map((values) =>
    values === undefined ? undefined : valuesOf(values, names),
  );
  return {
    ...(after !== undefined && !isFlaw(after) && { stored: after }),
    ...(before !== undefined && !isFlaw(before) && { replaced: before }),
  };
}

export const asOutcome =
  (reading: AnswerReading, namesOf: (id: string) => readonly string[] = () => []): ReadOne<Outcome> =>
  (answer, id) => {
    const names = namesOf(id);
    const { kind, reason, properties } = answer;
    if (kind === 'written') return { kind, id, ...statedValues(answer, names) };
    if (kind === 'call-refused') return { kind, id, reason: reasonOf(reason, reading) };
    if (kind === 'rejected')
      return { kind, id, reason: reasonOf(reason, reading), properties: reasonsOf(properties, reading) };
    return (
      movedOrGone(answer, id, reading.form) ??
      retried(answer, id, reading) ??
      wrongKind('written, retry, moved, gone, rejected or call-refused', answer)
    );
  };

export const asParentRead =
  (form: IdForm): ReadOne<ParentRead> =>
  (answer, id) => {
    const { kind, parent } = answer;
    if (kind !== 'found') return movedOrGone(answer, id, form) ?? wrongKind('found, moved or gone', answer);
    const above = parent === null ? null : idIn(parent, form);
    return above === null || typeof above === 'string'
      ? { kind, id, parent: above }
      : { flaw: `a parent, ${above.flaw}` };
  };
