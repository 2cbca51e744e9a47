/** Checks the shape of a provider's other answers. Pure; errors thrown here are masked as the provider's. */
import type {
  Account,
  AccountRule,
  ChangeHint,
  Changes,
  Created,
  Defined,
  MissingRight,
  NoteOutcome,
  Observation,
  Page,
  PropertyEdit,
  Right,
  Search,
} from '../../../../providers/provider.ts';
import { movedOrGone } from './check-records.ts';
import {
  type AnswerReading,
  boundedWait,
  isFlaw,
  isObject,
  isText,
  linesOf,
  readCursor,
  readId,
  readList,
  readObject,
  reasonOf,
  reasonsOf,
  ShapeError,
  valuesOf,
} from './check-values.ts';
import { described } from './described.ts';
import type { IdForm } from './record-id.ts';

/** Ids that do not name a company stay unchanged. */
const asSpelled: IdForm = (id) => id;

export const readAccount =
  (reading: AnswerReading) =>
  (answer: unknown): Account => {
    const { id: spelled, name, notes, currency } = readObject(answer, 'an account');
    if (!isText(spelled)) throw new ShapeError(`an account whose id is ${described(spelled)}: it is a text`);
    const id = readId(spelled, asSpelled);
    const own = isText(currency) && /^[A-Z]{3}$/.test(currency) && { currency };
    return { id, name: isText(name) ? reading.masked(name) : id, notes: linesOf(notes, reading), ...own };
  };

/** Refuses the whole answer if one record is not valid: a page cannot be read in parts. */
function recordOf(answer: unknown, form: IdForm): Page['records'][number] {
  const record = readObject(answer, 'a record');
  const id = readId(record['id'], form);
  const properties = valuesOf(record['properties']);
  if (isFlaw(properties)) throw new ShapeError(`the record ${id} with ${properties.flaw}`);
  return { id, properties };
}

export const readPage =
  ({ form }: AnswerReading) =>
  (answer: unknown): Page => {
    const { records, cursor } = readObject(answer, 'a page');
    const all = readList(records, 'the records of a page').map((record) => recordOf(record, form));
    return { records: all, ...(cursor !== undefined && { cursor: readCursor(cursor) }) };
  };

export const readSearch =
  ({ form }: AnswerReading) =>
  (answer: unknown): Search => {
    const { records, sure } = readObject(answer, 'what was found');
    return {
      records: readList(records, 'the records found').map((record) => recordOf(record, form)),
      sure: sure === true,
    };
  };

export const readChanges =
  ({ form }: AnswerReading) =>
  (answer: unknown): Changes => {
    const { changeHints: given, cursor, more } = readObject(answer, 'changes');
    const changeHints = readList(given, 'changeHints').map((each): ChangeHint => {
      const changeHint = readObject(each, 'a change');
      const lost = movedOrGone(changeHint, readId(changeHint['id'], form), form);
      if (lost !== undefined && isFlaw(lost)) throw new ShapeError(lost.flaw);
      return lost ?? { kind: 'seen', ...recordOf(changeHint, form) };
    });
    return { changeHints, cursor: readCursor(cursor), more: more === true };
  };

export const readCreated =
  (reading: AnswerReading) =>
  (answer: unknown): Created => {
    const { kind, id: given, reason: why, properties } = readObject(answer, 'an outcome');
    const reason = reasonOf(why, reading);
    const id = given === undefined || given === null ? undefined : readId(given, reading.form);
    if (kind === 'created') return { kind, id: id ?? readId(given, reading.form) };
    if (kind === 'duplicate') return { kind, reason, ...(id !== undefined && { id }) };
    if (kind === 'rejected') return { kind, reason, properties: reasonsOf(properties, reading) };
    throw new ShapeError(`${described(kind)} as the kind of its outcome: it is created, duplicate or rejected`);
  };

export const readDefined =
  (reading: AnswerReading) =>
  (answer: unknown): readonly Defined[] =>
    readList(answer, 'a list of outcomes').flatMap((defined): Defined[] => {
      if (!isObject(defined) || !isText(defined['name'])) return [];
      const { name, kind, reason } = defined;
      if (kind !== 'created' && kind !== 'exists' && kind !== 'refused') return [];
      return [{ name, kind, ...(isText(reason) && { reason: reading.masked(reason) }) }];
    });

/** More rules than a person reads. */
const MOST_RULES = 1_000;

export const readRules =
  ({ masked }: AnswerReading) =>
  (answer: unknown): readonly AccountRule[] =>
    readList(answer, 'a list of rules')
      .slice(0, MOST_RULES)
      .flatMap((rule): AccountRule[] => {
        if (!isObject(rule)) return [];
        const { kind, name, about } = rule;
        if (kind !== 'required' && kind !== 'validation' && kind !== 'duplicate') return [];
        const textOf = (text: unknown): string => (isText(text) ? masked(text) : described(text));
        return [{ kind, name: textOf(name), about: textOf(about) }];
      });

/** Drops rights that were not asked about. */
export const readMissingRights =
  (asked: readonly Right[], reading: AnswerReading) =>
  (answer: unknown): readonly MissingRight[] =>
    readList(answer, 'a list of rights').flatMap((missing): MissingRight[] => {
      const right = isObject(missing) ? asked.find((each) => each === missing['right']) : undefined;
      if (right === undefined || !isObject(missing)) return [];
      return [{ right, reason: reasonOf(missing['reason'], reading) }];
    });

/** Keeps the edits of the records and properties asked for, sorted by time. */
export const readEdits =
  (ids: readonly string[], properties: readonly string[], reading: AnswerReading) =>
  (answer: unknown): readonly PropertyEdit[] =>
    readList(answer, 'a list of edits')
      .flatMap((given): PropertyEdit[] => {
        const edit = readObject(given, 'an edit');
        const { property, at, by, own } = edit;
        const id = readId(edit['id'], reading.form);
        if (!ids.includes(id) || !isText(property) || !properties.includes(property)) return [];
        if (typeof at !== 'number' || !Number.isFinite(at))
          throw new ShapeError(`an edit of ${id} at ${described(at)}: a time is a number of ms since 1970`);
        const values = valuesOf({ [property]: edit['value'] });
        if (isFlaw(values)) throw new ShapeError(`an edit of ${id} with ${values.flaw}`);
        const value = values[property];
        const who = isText(by) ? reading.masked(by) : 'somebody';
        return [{ id, property, at, by: who, own: own === true, ...(value !== undefined && { value }) }];
      })
      .sort((a, b) => a.at - b.at);

export function readNoteId(answer: unknown): string | undefined {
  return answer === undefined || answer === null ? undefined : readId(answer, asSpelled);
}

export const readNoteOutcome =
  (reading: AnswerReading) =>
  (answer: unknown): NoteOutcome => {
    const { kind, id, reason: why } = readObject(answer, 'an outcome');
    const reason = reasonOf(why, reading);
    if (kind === 'written') return { kind, id: readId(id, asSpelled) };
    if (kind === 'gone') return { kind };
    if (kind === 'retry' || kind === 'rejected') return { kind, reason };
    throw new ShapeError(`${described(kind)} as the kind of its outcome: it is written, gone, retry or rejected`);
  };

/** Headers are a hint: invalid ones are dropped without an error. */
export function readObservation(answer: unknown, masked: AnswerReading['masked']): Observation | undefined {
  if (!isObject(answer)) return undefined;
  const { budget, remaining, pauseMs, reason } = answer;
  const wait = boundedWait(pauseMs);
  return {
    ...(isText(budget) && { budget }),
    ...(typeof remaining === 'number' && { remaining }),
    ...(wait !== undefined && { pauseMs: wait }),
    ...(isText(reason) && { reason: masked(reason) }),
  };
}
