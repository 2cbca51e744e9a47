/** The shapes a provider's answers must have. Pure; what is thrown here is told as the provider's doing. */
import type {
  Account,
  AccountRule,
  ChangeHint,
  Changes,
  Created,
  Defined,
  MissingRight,
  NoteOutcome,
  Outcome,
  Page,
  ParentRead,
  Property,
  PropertyValue,
  Read,
  Right,
  Search,
} from '../../../providers/provider.ts';
import { LONGEST_TEXT } from '../../protocol/text/shape.ts';
import type { IdForm } from './record-id.ts';

type Fields = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, PropertyValue>>;
/** A reader of one record's answer: undefined where it makes no sense. */
export type ReadOne<T> = (answer: Fields, id: string) => T | undefined;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isValue = (value: unknown): value is PropertyValue =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

/** A list, or a thrown complaint. */
export function readList(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) throw new Error('no list');
  return answer;
}

/** The canonical form of an id that is to be stored; throws where its own provider refuses it. */
function canonical(id: string, form: IdForm): string {
  const formed = form(id);
  if (formed === undefined) throw new Error(`the record id ${id}, which its own canonicalId takes for none`);
  return formed;
}

/** How the answers of a verb are read. */
export interface RecordReader<T> {
  readonly read: ReadOne<T>;
  /** The answer for a record that was left out, or answered for more than once. */
  readonly without: (id: string, reason: string) => T;
  readonly form: IdForm;
}

/** One answer for each id, in the order of the ids, whatever the order they came in. */
export function inOrder<T>(
  ids: readonly string[],
  answers: readonly unknown[],
  { read, without, form }: RecordReader<T>,
): readonly T[] {
  const byId = new Map<string, Fields[]>();
  for (const answer of answers) {
    if (!isFields(answer) || !isText(answer['id'])) continue;
    const id = form(answer['id']) ?? answer['id'];
    const others = byId.get(id);
    if (others === undefined) byId.set(id, [answer]);
    else others.push(answer);
  }
  return ids.map((id) => {
    const [answer, ...others] = byId.get(id) ?? [];
    if (answer === undefined) return without(id, 'the provider said nothing of this record');
    if (others.length > 0) return without(id, 'the provider answered for this record more than once');
    return read(answer, id) ?? without(id, 'what the provider answered for this record makes no sense');
  });
}

/** No CRM keeps such a text in a property, and each rule that meets it would take long. */
const isTooLong = (value: PropertyValue): boolean => typeof value === 'string' && value.length > LONGEST_TEXT;

/** Only the properties asked for; undefined where one of them is no value. */
function valuesOf(properties: unknown, names?: readonly string[]): Values | undefined {
  if (!isFields(properties)) return undefined;
  const kept: Record<string, PropertyValue> = {};
  for (const name of names ?? Object.keys(properties)) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    // Absent means that it cannot be read: it is not blank.
    if (value === undefined) continue;
    if (!isValue(value) || isTooLong(value)) return undefined;
    kept[name] = value;
  }
  return kept;
}

const movedOrGone = ({ kind, to }: Fields, id: string, form: IdForm) => {
  if (kind === 'gone') return { kind: 'gone' as const, id };
  const survivor = kind === 'moved' && isText(to) ? form(to) : undefined;
  return survivor !== undefined && survivor !== id ? { kind: 'moved' as const, id, to: survivor } : undefined;
};

const retried = ({ kind, reason, retryAfterMs }: Fields, id: string) => {
  if (kind !== 'retry') return undefined;
  const wait = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { retryAfterMs } : {};
  return { kind: 'retry' as const, id, reason: isText(reason) ? reason : 'the provider gave no reason', ...wait };
};

export const asRead =
  (names: readonly string[], form: IdForm): ReadOne<Read> =>
  (answer, id) => {
    if (answer['kind'] !== 'found') return movedOrGone(answer, id, form) ?? retried(answer, id);
    const properties = valuesOf(answer['properties'], names);
    return properties === undefined ? undefined : { kind: 'found', id, properties };
  };

export const asOutcome =
  (form: IdForm): ReadOne<Outcome> =>
  (answer, id) => {
    if (answer['kind'] === 'written') return { kind: 'written', id };
    if (answer['kind'] !== 'rejected') return movedOrGone(answer, id, form) ?? retried(answer, id);
    const reason = isText(answer['reason']) ? answer['reason'] : 'the provider gave no reason';
    return { kind: 'rejected', id, reason, properties: reasonsOf(answer['properties']) };
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

/** Property → reason; a reason that is no text is none. */
const reasonsOf = (properties: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isFields(properties) ? properties : {}).map(([name, reason]) => [
      name,
      isText(reason) ? reason : 'the provider gave no reason',
    ]),
  );

export function readAccount(answer: unknown): Account {
  if (!isFields(answer) || !isText(answer['id'])) throw new Error('no account');
  const { id, name, notes } = answer;
  return { id, name: isText(name) ? name : id, notes: Array.isArray(notes) ? notes.map(String) : [] };
}

export function readProperties(answer: unknown): readonly Property[] {
  return readList(answer).map((property) => {
    const isOne =
      isFields(property) &&
      isText(property['name']) &&
      typeof property['type'] === 'string' &&
      typeof property['writable'] === 'boolean';
    if (!isOne) throw new Error('a property without name, type or writable');
    // The rest is read with care where it is used.
    return property as unknown as Property;
  });
}

/** A record with its properties; the whole answer is refused where one makes no sense: a page cannot be asked for in parts. */
function recordOf(answer: unknown, form: IdForm): Page['records'][number] {
  if (!isFields(answer) || !isText(answer['id'])) throw new Error('a record without an id');
  const properties = valuesOf(answer['properties']);
  if (properties === undefined) throw new Error(`a record, ${answer['id']}, whose properties are no values`);
  return { id: canonical(answer['id'], form), properties };
}

export const readPage =
  (form: IdForm) =>
  (answer: unknown): Page => {
    if (!isFields(answer)) throw new Error('no page');
    const { records, cursor } = answer;
    if (cursor !== undefined && !isText(cursor)) throw new Error('a cursor that is no text');
    const all = readList(records).map((record) => recordOf(record, form));
    return { records: all, ...(cursor !== undefined && { cursor }) };
  };

export const readSearch =
  (form: IdForm) =>
  (answer: unknown): Search => {
    if (!isFields(answer)) throw new Error('nothing found and nothing not found');
    const records = readList(answer['records']).map((record) => recordOf(record, form));
    return { records, sure: answer['sure'] === true };
  };

export const readChanges =
  (form: IdForm) =>
  (answer: unknown): Changes => {
    if (!isFields(answer) || !isText(answer['cursor'])) throw new Error('changes without a cursor');
    const changeHints = readList(answer['changeHints']).map((changeHint): ChangeHint => {
      if (!isFields(changeHint) || !isText(changeHint['id'])) throw new Error('a sighting without an id');
      const lost = movedOrGone(changeHint, canonical(changeHint['id'], form), form);
      return lost ?? { kind: 'seen', ...recordOf(changeHint, form) };
    });
    return { changeHints, cursor: answer['cursor'], more: answer['more'] === true };
  };

export const readCreated =
  (form: IdForm) =>
  (answer: unknown): Created => {
    if (!isFields(answer)) throw new Error('no outcome');
    const { kind, id } = answer;
    const reason = isText(answer['reason']) ? answer['reason'] : 'the provider gave no reason';
    if (kind === 'created' && isText(id)) return { kind, id: canonical(id, form) };
    if (kind === 'duplicate') return { kind, reason, ...(isText(id) && { id: canonical(id, form) }) };
    if (kind === 'rejected') return { kind, reason, properties: reasonsOf(answer['properties']) };
    throw new Error('an outcome that makes no sense');
  };

export function readDefined(answer: unknown): readonly Defined[] {
  return readList(answer).flatMap((defined): Defined[] => {
    if (!isFields(defined) || !isText(defined['name'])) return [];
    const { name, kind, reason } = defined;
    if (kind !== 'created' && kind !== 'exists' && kind !== 'refused') return [];
    return [{ name, kind, ...(isText(reason) && { reason }) }];
  });
}

export function readRules(answer: unknown): readonly AccountRule[] {
  return readList(answer).flatMap((rule): AccountRule[] => {
    if (!isFields(rule)) return [];
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
      const right = isFields(missing) ? asked.find((each) => each === missing['right']) : undefined;
      if (right === undefined || !isFields(missing)) return [];
      return [{ right, reason: isText(missing['reason']) ? missing['reason'] : 'the provider gave no reason' }];
    });

export function readNoteId(answer: unknown): string | undefined {
  if (answer === undefined || answer === null || isText(answer)) return answer ?? undefined;
  throw new Error('a note whose id is no text');
}

export function readNoteOutcome(answer: unknown): NoteOutcome {
  if (!isFields(answer)) throw new Error('no outcome');
  const { kind, id } = answer;
  const reason = isText(answer['reason']) ? answer['reason'] : 'the provider gave no reason';
  if (kind === 'written' && isText(id)) return { kind, id };
  if (kind === 'gone') return { kind };
  if (kind === 'retry' || kind === 'rejected') return { kind, reason };
  throw new Error('an outcome that makes no sense');
}
