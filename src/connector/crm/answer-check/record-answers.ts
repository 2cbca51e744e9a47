/** Answers for several records, each matched with its record by its id. Pure. */
import Type from 'typebox';
import { describeValue, objectOf } from '../../../../providers/misfit.ts';
import type { Outcome, ParentRead, Read, WrittenOutcome } from '../../../../providers/provider.ts';
import {
  type AnswerObject,
  type AnswerReading,
  boundedWait,
  canonical,
  expecting,
  ID,
  ID_WANTED,
  type IdForm,
  isObject,
  isText,
  kindIn,
  readList,
  readValues,
  reasonOf,
  reasonsOf,
  ShapeError,
} from './values.ts';

/** Reads one record's answer; throws {@link ShapeError} if it does not fit the contract. */
export type ReadOne<T> = (answer: AnswerObject, id: string) => T;

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
      try {
        return read(own, id);
      } catch (error) {
        if (!(error instanceof ShapeError)) throw error;
        return without(id, `the provider answered for this record with ${error.message}`);
      }
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
  if (own !== undefined) return `the provider gave ${describeValue(own)} as the id of this record: an id is a text`;
  if (nameless.length === 0) return silence;
  const seen = isObject(first) ? `has ${describeValue(first['id'])} as its id` : `is ${describeValue(first)}`;
  return `${silence}; one of its answers ${seen}: each is an object whose id is a text`;
}

const ofKinds = (kinds: readonly string[]) => expecting(objectOf({ kind: kindIn(kinds) }, { wanted: 'an answer' }));
const toId = expecting(ID, 'to');

/** An answer that reads and outcomes share; undefined if the answer is of another kind. */
export function movedOrGone({ kind, to }: AnswerObject, id: string, form: IdForm) {
  if (kind === 'gone') return { kind: 'gone' as const, id };
  if (kind !== 'moved') return undefined;
  const survivor = canonical(toId(to), form);
  if (survivor === id)
    throw new ShapeError(`a move to ${describeValue(to)}: "to" is another record, the survivor of a merge`);
  return { kind: 'moved' as const, id, to: survivor };
}

const retried = ({ reason, retryAfterMs }: AnswerObject, id: string, reading: AnswerReading) =>
  ({ kind: 'retry', id, reason: reasonOf(reason, reading), retryAfterMs: boundedWait(retryAfterMs) }) as const;

const checkReadKind = ofKinds(['found', 'moved', 'gone', 'retry']);

export const asRead =
  (names: readonly string[], reading: AnswerReading): ReadOne<Read> =>
  (answer, id) => {
    checkReadKind(answer);
    const { kind, properties, unreadable } = answer;
    if (kind === 'retry') return retried(answer, id, reading);
    return (
      movedOrGone(answer, id, reading.form) ?? {
        kind: 'found',
        id,
        properties: readValues(properties, names),
        unreadable: Array.isArray(unreadable) ? unreadable : undefined,
      }
    );
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

/** The values that a written record states; undefined if they do not fit, since the CRM wrote the record all the same. */
function statedValues(values: unknown, names: readonly string[]): WrittenOutcome['stored'] {
  try {
    return values === undefined ? undefined : readValues(values, names);
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
}

const checkOutcomeKind = ofKinds(['written', 'retry', 'moved', 'gone', 'rejected', 'call-refused']);

/** `namesOf` gives the properties that were sent to a record. */
export const asOutcome =
  (reading: AnswerReading, namesOf: (id: string) => readonly string[] = () => []): ReadOne<Outcome> =>
  (answer, id) => {
    checkOutcomeKind(answer);
    const { kind, reason, properties, stored, replaced } = answer;
    if (kind === 'written') {
      const names = namesOf(id);
      return { kind, id, stored: statedValues(stored, names), replaced: statedValues(replaced, names) };
    }
    if (kind === 'call-refused') return { kind, id, reason: reasonOf(reason, reading) };
    if (kind === 'rejected')
      return { kind, id, reason: reasonOf(reason, reading), properties: reasonsOf(properties, reading) };
    return movedOrGone(answer, id, reading.form) ?? retried(answer, id, reading);
  };

const checkParentKind = ofKinds(['found', 'moved', 'gone']);
const parentId = expecting(
  Type.Union([ID, Type.Null()], { wanted: `${ID_WANTED}, or null if the record has no parent` }),
  'parent',
);

export const asParentRead =
  (form: IdForm): ReadOne<ParentRead> =>
  (answer, id) => {
    checkParentKind(answer);
    const lost = movedOrGone(answer, id, form);
    if (lost !== undefined) return lost;
    const parent = parentId(answer['parent']);
    return { kind: 'found', id, parent: parent === null ? null : canonical(parent, form) };
  };
