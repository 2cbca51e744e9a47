/** Answers for several records, each matched with its record by its id. Pure. */
import type { Outcome, ParentRead, Read } from '../../../../providers/provider.ts';
import type { IdForm } from '../record-id.ts';
import {
  type AnswerObject,
  boundedWait,
  isObject,
  isText,
  readList,
  reasonOf,
  reasonsOf,
  valuesOf,
} from './fence-values.ts';

/** A reader of one record's answer: undefined where it makes no sense. */
export type ReadOne<T> = (answer: AnswerObject, id: string) => T | undefined;

/** How the answers of a verb are read. */
export interface RecordReader<T> {
  readonly read: ReadOne<T>;
  /** The answer for a record that was left out, or answered for more than once. */
  readonly without: (id: string, reason: string) => T;
  readonly form: IdForm;
}

/** One answer for each id, in the order of the ids, whatever the order they came in. */
export const inOrder =
  <T>(ids: readonly string[], { read, without, form }: RecordReader<T>) =>
  (answer: unknown): readonly T[] => {
    const byId = byRecord(readList(answer), form);
    return ids.map((id) => {
      const [own, ...others] = byId.get(id) ?? [];
      if (own === undefined) return without(id, 'the provider said nothing of this record');
      if (others.length > 0) return without(id, 'the provider answered for this record more than once');
      return read(own, id) ?? without(id, 'what the provider answered for this record makes no sense');
    });
  };

/** The answers by the record that each names; those that name none are left out. */
function byRecord(answers: readonly unknown[], form: IdForm): ReadonlyMap<string, readonly AnswerObject[]> {
  const byId = new Map<string, AnswerObject[]>();
  for (const answer of answers) {
    if (!isObject(answer)) continue;
    const { id: spelled } = answer;
    if (!isText(spelled)) continue;
    const id = form(spelled) ?? spelled;
    const others = byId.get(id);
    if (others === undefined) byId.set(id, [answer]);
    else others.push(answer);
  }
  return byId;
}

export const movedOrGone = ({ kind, to }: AnswerObject, id: string, form: IdForm) => {
  if (kind === 'gone') return { kind: 'gone' as const, id };
  const survivor = kind === 'moved' && isText(to) ? form(to) : undefined;
  return survivor !== undefined && survivor !== id ? { kind: 'moved' as const, id, to: survivor } : undefined;
};

const retried = ({ kind, reason, retryAfterMs }: AnswerObject, id: string) => {
  if (kind !== 'retry') return undefined;
  const bounded = boundedWait(retryAfterMs);
  const wait = bounded === undefined ? {} : { retryAfterMs: bounded };
  return { kind: 'retry' as const, id, reason: reasonOf(reason), ...wait };
};

export const asRead =
  (names: readonly string[], form: IdForm): ReadOne<Read> =>
  (answer, id) => {
    if (answer['kind'] !== 'found') return movedOrGone(answer, id, form) ?? retried(answer, id);
    const properties = valuesOf(answer['properties'], names);
    const { unreadable } = answer;
    const stated = Array.isArray(unreadable) && unreadable.length > 0 && { unreadable };
    return properties === undefined ? undefined : { kind: 'found', id, properties, ...stated };
  };

/** The properties that a found record lacks, though the answer does not say that they cannot be read. */
export const leftOut = (read: Read, names: readonly string[]): readonly string[] =>
  read.kind === 'found'
    ? names.filter((name) => !Object.hasOwn(read.properties, name) && read.unreadable?.includes(name) !== true)
    : [];

/** The read as it is used; a retry where the answer lacks what this CRM can read. */
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

export const asOutcome =
  (form: IdForm): ReadOne<Outcome> =>
  (answer, id) => {
    if (answer['kind'] === 'written') return { kind: 'written', id };
    if (answer['kind'] !== 'rejected') return movedOrGone(answer, id, form) ?? retried(answer, id);
    return { kind: 'rejected', id, reason: reasonOf(answer['reason']), properties: reasonsOf(answer['properties']) };
  };

export const asParentRead =
  (form: IdForm): ReadOne<ParentRead> =>
  (answer, id) => {
    const { kind, parent } = answer;
    if (kind !== 'found') return movedOrGone(answer, id, form);
    if (parent === null) return { kind, id, parent };
    const above = isText(parent) ? form(parent) : undefined;
    return above === undefined ? undefined : { kind, id, parent: above };
  };
