/** The shapes a provider's other answers must have. Pure; what is thrown here is told as the provider's doing. */
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
  Property,
  Right,
  Search,
} from '../../../../providers/provider.ts';
import type { IdForm } from '../record-id.ts';
import { movedOrGone } from './fence-records.ts';
import {
  boundedWait,
  canonical,
  isObject,
  isText,
  readList,
  reasonOf,
  reasonsOf,
  ShapeError,
  valuesOf,
} from './fence-values.ts';

export function readAccount(answer: unknown): Account {
  if (!isObject(answer)) throw new ShapeError('no account');
  if (!isText(answer['id']))
    throw new ShapeError(
      `an account whose id is ${answer['id'] === '' ? 'blank' : `a ${typeof answer['id']}`}: it is a text`,
    );
  const { id, name, notes } = answer;
  return { id, name: isText(name) ? name : id, notes: Array.isArray(notes) ? notes.map(String) : [] };
}

export function readProperties(answer: unknown): readonly Property[] {
  return readList(answer).map((property) => {
    const isOne =
      isObject(property) &&
      isText(property['name']) &&
      typeof property['type'] === 'string' &&
      typeof property['writable'] === 'boolean';
    if (!isOne) throw new ShapeError('a property without name, type or writable');
    // The rest is read with care where it is used.
    return property as unknown as Property;
  });
}

/** A record with its properties; the whole answer is refused where one makes no sense: a page cannot be asked for in parts. */
function recordOf(answer: unknown, form: IdForm): Page['records'][number] {
  if (!isObject(answer) || !isText(answer['id'])) throw new ShapeError('a record without an id');
  const properties = valuesOf(answer['properties']);
  if (properties === undefined) throw new ShapeError(`a record, ${answer['id']}, whose properties are no values`);
  return { id: canonical(answer['id'], form), properties };
}

export const readPage =
  (form: IdForm) =>
  (answer: unknown): Page => {
    if (!isObject(answer)) throw new ShapeError('no page');
    const { records, cursor } = answer;
    if (cursor !== undefined && !isText(cursor)) throw new ShapeError('a cursor that is no text');
    const all = readList(records).map((record) => recordOf(record, form));
    return { records: all, ...(cursor !== undefined && { cursor }) };
  };

export const readSearch =
  (form: IdForm) =>
  (answer: unknown): Search => {
    if (!isObject(answer)) throw new ShapeError('nothing found and nothing not found');
    const records = readList(answer['records']).map((record) => recordOf(record, form));
    return { records, sure: answer['sure'] === true };
  };

export const readChanges =
  (form: IdForm) =>
  (answer: unknown): Changes => {
    if (!isObject(answer) || !isText(answer['cursor'])) throw new ShapeError('changes without a cursor');
    const changeHints = readList(answer['changeHints']).map((changeHint): ChangeHint => {
      if (!isObject(changeHint) || !isText(changeHint['id'])) throw new ShapeError('a sighting without an id');
      const lost = movedOrGone(changeHint, canonical(changeHint['id'], form), form);
      return lost ?? { kind: 'seen', ...recordOf(changeHint, form) };
    });
    return { changeHints, cursor: answer['cursor'], more: answer['more'] === true };
  };

export const readCreated =
  (form: IdForm) =>
  (answer: unknown): Created => {
    if (!isObject(answer)) throw new ShapeError('no outcome');
    const { kind, id } = answer;
    const reason = reasonOf(answer['reason']);
    if (kind === 'created' && isText(id)) return { kind, id: canonical(id, form) };
    if (kind === 'duplicate') return { kind, reason, ...(isText(id) && { id: canonical(id, form) }) };
    if (kind === 'rejected') return { kind, reason, properties: reasonsOf(answer['properties']) };
    throw new ShapeError('an outcome that makes no sense');
  };

export function readDefined(answer: unknown): readonly Defined[] {
  return readList(answer).flatMap((defined): Defined[] => {
    if (!isObject(defined) || !isText(defined['name'])) return [];
    const { name, kind, reason } = defined;
    if (kind !== 'created' && kind !== 'exists' && kind !== 'refused') return [];
    return [{ name, kind, ...(isText(reason) && { reason }) }];
  });
}

export function readRules(answer: unknown): readonly AccountRule[] {
  return readList(answer).flatMap((rule): AccountRule[] => {
    if (!isObject(rule)) return [];
    const { kind, name, about } = rule;
    if (kind !== 'required' && kind !== 'validation' && kind !== 'duplicate') return [];
    return [{ kind, name: String(name), about: String(about) }];
  });
}

/** Only rights that were asked about. */
export const readMissingRights =
  (asked: readonly Right[]) =>
  (answer: unknown): readonly MissingRight[] =>
    readList(answer).flatMap((missing): MissingRight[] => {
      const right = isObject(missing) ? asked.find((each) => each === missing['right']) : undefined;
      if (right === undefined || !isObject(missing)) return [];
      return [{ right, reason: reasonOf(missing['reason']) }];
    });

export function readNoteId(answer: unknown): string | undefined {
  if (answer === undefined || answer === null || isText(answer)) return answer ?? undefined;
  throw new ShapeError('a note whose id is no text');
}

export function readNoteOutcome(answer: unknown): NoteOutcome {
  if (!isObject(answer)) throw new ShapeError('no outcome');
  const { kind, id } = answer;
  const reason = reasonOf(answer['reason']);
  if (kind === 'written' && isText(id)) return { kind, id };
  if (kind === 'gone') return { kind };
  if (kind === 'retry' || kind === 'rejected') return { kind, reason };
  throw new ShapeError('an outcome that makes no sense');
}

/** What headers say; undefined where they say nothing that can be used. They are a hint: nothing of them is an error. */
export function readObservation(answer: unknown): Observation | undefined {
  if (!isObject(answer)) return undefined;
  const { budget, remaining, pauseMs, reason } = answer;
  const wait = boundedWait(pauseMs);
  return {
    ...(isText(budget) && { budget }),
    ...(typeof remaining === 'number' && { remaining }),
    ...(wait !== undefined && { pauseMs: wait }),
    ...(isText(reason) && { reason: reason.slice(0, LONGEST_REASON) }),
  };
}

/** More than a person reads, in characters. */
const LONGEST_REASON = 1_000;
