/**
 * Readers of the answers that are not one for each record. A schema says what an answer must have; a text for people that is
 * missing is replaced. Pure; what they throw names the provider's mistake.
 */
import Type from 'typebox';
import { describeValue, listOf, objectOf } from '../../../../providers/misfit.ts';
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
  PropertyRemoval,
  Right,
  Search,
} from '../../../../providers/provider.ts';
import { movedOrGone } from './record-answers.ts';
import {
  type AnswerReading,
  boundedWait,
  canonical,
  copyValues,
  expecting,
  firstLines,
  fitting,
  ID,
  type IdForm,
  isObject,
  isText,
  kindIn,
  readId,
  readList,
  reasonOf,
  reasonsOf,
  shownText,
  VALUE,
  VALUES,
} from './values.ts';

/** Any value, or none: its reader decides. */
const ANY = Type.Optional(Type.Unknown());
/** The store keeps a cursor, and every call sends it. */
const LONGEST_CURSOR = 16_384;
const CURSOR_WANTED = `it is a text of ${LONGEST_CURSOR} characters at most`;
const CURSOR = { minLength: 1, maxLength: LONGEST_CURSOR };
const RECORD = objectOf(
  { id: ID, properties: VALUES },
  { wanted: 'it is an object with an id and properties', title: 'a record', by: 'id' },
);
const RECORDS = listOf(RECORD, 'it is a list of records');

const asAccount = expecting(objectOf({ id: ID, name: ANY, notes: ANY, currency: ANY }, { wanted: 'an account' }));

export const readAccount =
  (reading: AnswerReading) =>
  (answer: unknown): Account => {
    const { id, name, notes, currency } = asAccount(answer);
    return {
      id,
      name: shownText(name, reading) ?? id,
      notes: firstLines(notes).map((line) => shownText(line, reading) ?? describeValue(line)),
      currency: isText(currency) && /^[A-Z]{3}$/.test(currency) ? currency : undefined,
    };
  };

const asRecord = expecting(RECORD);
const recordOf = ({ id, properties }: { id: string; properties: object }, form: IdForm): Page['records'][number] => ({
  id: canonical(id, form),
  properties: copyValues(properties),
});

const LAST = ', and absent on the last page';
const PAGE = { records: RECORDS, cursor: Type.Optional(Type.String({ ...CURSOR, wanted: CURSOR_WANTED + LAST })) };
const asPage = expecting(objectOf(PAGE, { wanted: 'a page' }));

/** The whole page is refused if one record does not fit: cvrsync cannot ask for a part of a page. */
export const readPage =
  ({ form }: AnswerReading) =>
  (answer: unknown): Page => {
    const { records, cursor } = asPage(answer);
    return { records: records.map((record) => recordOf(record, form)), cursor };
  };

const asSearch = expecting(objectOf({ records: RECORDS, sure: ANY }, { wanted: 'what was found' }));

export const readSearch =
  ({ form }: AnswerReading) =>
  (answer: unknown): Search => {
    const { records, sure } = asSearch(answer);
    return { records: records.map((record) => recordOf(record, form)), sure: sure === true };
  };

const HINT = objectOf({ id: ID }, { wanted: 'it is an object with an id', title: 'a change', by: 'id' });
const CHANGES = {
  changeHints: listOf(HINT, 'it is a list'),
  cursor: Type.String({ ...CURSOR, wanted: CURSOR_WANTED }),
  more: ANY,
};
const asChanges = expecting(objectOf(CHANGES, { wanted: 'changes' }));

export const readChanges =
  ({ form }: AnswerReading) =>
  (answer: unknown): Changes => {
    const { changeHints, cursor, more } = asChanges(answer);
    const read = (hint: { readonly id: string }): ChangeHint =>
      movedOrGone(hint, canonical(hint.id, form), form) ?? { kind: 'seen', ...recordOf(asRecord(hint), form) };
    return { changeHints: changeHints.map(read), cursor, more: more === true };
  };

const CREATED = { kind: kindIn(['created', 'duplicate', 'rejected']), id: ANY, reason: ANY, properties: ANY };
const asCreated = expecting(objectOf(CREATED, { wanted: 'an outcome' }));

export const readCreated =
  (reading: AnswerReading) =>
  (answer: unknown): Created => {
    const { kind, id: given, reason: why, properties } = asCreated(answer);
    const idOf = (id: unknown): string => canonical(readId(id), reading.form);
    if (kind === 'created') return { kind, id: idOf(given) };
    const reason = reasonOf(why, reading);
    if (kind === 'rejected') return { kind, reason, properties: reasonsOf(properties, reading) };
    return { kind, reason, id: given === undefined || given === null ? undefined : idOf(given) };
  };

const NAME = Type.String({ minLength: 1 });
const isDefined = fitting(
  Type.Object({ name: NAME, kind: kindIn(['created', 'exists', 'refused']), hidden: ANY, reason: ANY }),
);

/** Definitions that name no property are left out, and count as refused. */
export const readDefined =
  (reading: AnswerReading) =>
  (answer: unknown): readonly Defined[] =>
    readList(answer, 'a list of outcomes')
      .filter(isDefined)
      .map(({ name, kind, hidden, reason }) => ({
        ...{ name, kind, reason: shownText(reason, reading) },
        ...(hidden === true && { hidden }),
      }));

const isRemoved = fitting(Type.Object({ name: NAME, kind: kindIn(['removed', 'absent', 'refused']), reason: ANY }));

/** Removals that name no property are left out, and count as refused. */
export const readRemoved =
  (reading: AnswerReading) =>
  (answer: unknown): readonly PropertyRemoval[] =>
    readList(answer, 'a list of outcomes')
      .filter(isRemoved)
      .map(({ name, kind, reason }) => ({ name, kind, reason: shownText(reason, reading) }));

/** As many as a person reads. */
const MOST_RULES = 1_000;
const isRule = fitting(Type.Object({ kind: kindIn(['required', 'validation', 'duplicate']), name: ANY, about: ANY }));

export const readRules =
  (reading: AnswerReading) =>
  (answer: unknown): readonly AccountRule[] => {
    const textOf = (text: unknown): string => shownText(text, reading) ?? describeValue(text);
    return readList(answer, 'a list of rules')
      .slice(0, MOST_RULES)
      .filter(isRule)
      .map(({ kind, name, about }) => ({ kind, name: textOf(name), about: textOf(about) }));
  };

/** Rights that were not asked about are left out. */
export const readMissingRights =
  (asked: readonly Right[], reading: AnswerReading) =>
  (answer: unknown): readonly MissingRight[] =>
    readList(answer, 'a list of rights')
      .filter(isObject)
      .flatMap(({ right: stated, reason }) => {
        const right = asked.find((each) => each === stated);
        return right === undefined ? [] : [{ right, reason: reasonOf(reason, reading) }];
      });

const EDIT_WORDING = { wanted: 'it is an object with an id', title: 'an edit', by: 'id' };
const asAnyEdit = expecting(objectOf({ id: ID, property: ANY }, EDIT_WORDING));
const AT = Type.Number({ wanted: 'it is a number of ms since 1970' });
const asEdit = expecting(
  objectOf({ id: ID, property: NAME, at: AT, value: Type.Optional(VALUE), by: ANY, own: ANY }, EDIT_WORDING),
);

/** Edits of other records and properties are left out; the others are in the order of their times. */
export const readEdits =
  (ids: readonly string[], properties: readonly unknown[], reading: AnswerReading) =>
  (answer: unknown): readonly PropertyEdit[] =>
    readList(answer, 'a list of edits')
      .flatMap((given): PropertyEdit[] => {
        const edit = asAnyEdit(given);
        const id = canonical(edit.id, reading.form);
        if (!ids.includes(id) || !properties.includes(edit.property)) return [];
        const { property, at, value, by, own } = asEdit(given);
        return [{ id, property, at, value, by: shownText(by, reading) ?? 'somebody', own: own === true }];
      })
      .sort((a, b) => a.at - b.at);

export const readNoteId = (answer: unknown): string | undefined =>
  answer === undefined || answer === null ? undefined : readId(answer);

const NOTE = { kind: kindIn(['written', 'gone', 'retry', 'rejected']), id: ANY, reason: ANY };
const asNote = expecting(objectOf(NOTE, { wanted: 'an outcome' }));

export const readNoteOutcome =
  (reading: AnswerReading) =>
  (answer: unknown): NoteOutcome => {
    const { kind, id, reason } = asNote(answer);
    if (kind === 'written') return { kind, id: readId(id) };
    return kind === 'gone' ? { kind } : { kind, reason: reasonOf(reason, reading) };
  };

/** What headers say; undefined if nothing of it can be used. It is a hint: nothing of it is an error. */
export function readObservation(answer: unknown, masked: AnswerReading['masked']): Observation | undefined {
  if (!isObject(answer)) return undefined;
  const { budget, remaining, pauseMs, reason } = answer;
  return {
    budget: isText(budget) ? budget : undefined,
    remaining: typeof remaining === 'number' ? remaining : undefined,
    pauseMs: boundedWait(pauseMs),
    reason: shownText(reason, { masked }),
  };
}
