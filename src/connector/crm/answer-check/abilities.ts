/** The optional abilities of a connection, with checked answers. */
import { type Connection, type Notes, type Parents, ProviderError } from '../../../../providers/provider.ts';
import * as answers from './answers.ts';
import type { Bound } from './bound-call.ts';
import { asOutcome, asParentRead, inOrder } from './record-answers.ts';
import type { AnswerReading } from './values.ts';

/** What the calls of one connection are checked with. */
interface AbilityCheck {
  readonly bound: Bound;
  readonly name: string;
  readonly reading: AnswerReading;
}

type Abilities = Omit<Connection, 'check' | 'properties' | 'read' | 'update' | 'scan'>;

/** The abilities that the connection has, and no other. Each gets copies of its arguments. */
export function checkAbilities(connection: Connection, check: AbilityCheck): Abilities {
  const { bound, reading } = check;
  const { changes, find, create, defineProperties, removeProperties, rules, missingRights, edits, notes, parents } =
    connection;
  const checked: { -readonly [K in keyof Abilities]: Abilities[K] } = {};
  if (changes !== undefined)
    checked.changes = (properties, cursor, signal) => {
      const list = (own: AbortSignal) => changes.call(connection, [...properties], cursor, own);
      return bound('changes', signal, list, answers.readChanges(reading));
    };
  if (find !== undefined)
    checked.find = (property, value, signal) => {
      const search = (own: AbortSignal) => find.call(connection, property, value, own);
      return bound('find', signal, search, answers.readSearch(reading));
    };
  if (create !== undefined)
    checked.create = (properties, signal) => {
      const make = (own: AbortSignal) => create.call(connection, structuredClone(properties), own);
      return bound('create', signal, make, answers.readCreated(reading));
    };
  if (defineProperties !== undefined)
    checked.defineProperties = async (definitions, signal) => {
      const define = (own: AbortSignal) => defineProperties.call(connection, structuredClone(definitions), own);
      const defined = await bound('defineProperties', signal, define, answers.readDefined(reading));
      return inNamedOrder(
        definitions.map(({ name: each }) => each),
        defined,
      );
    };
  if (removeProperties !== undefined)
    checked.removeProperties = async (names, signal) => {
      const remove = (own: AbortSignal) => removeProperties.call(connection, [...names], own);
      return inNamedOrder(names, await bound('removeProperties', signal, remove, answers.readRemoved(reading)));
    };
  if (rules !== undefined)
    checked.rules = (signal) =>
      bound('rules', signal, (own) => rules.call(connection, own), answers.readRules(reading));
  if (missingRights !== undefined)
    checked.missingRights = (rights, signal) => {
      const list = (own: AbortSignal) => missingRights.call(connection, [...rights], own);
      return bound('missingRights', signal, list, answers.readMissingRights(rights, reading));
    };
  if (edits !== undefined)
    checked.edits = async (ids, properties, since, signal) => {
      if (ids.length === 0 || properties.length === 0) return [];
      const list = (own: AbortSignal) => edits.call(connection, [...ids], [...properties], since, own);
      return bound('edits', signal, list, answers.readEdits(ids, properties, reading));
    };
  if (notes !== undefined) checked.notes = checkNotes(notes, check);
  if (parents !== undefined) checked.parents = checkParents(parents, check);
  return checked;
}

/** One answer for each name, whatever the provider left out. */
const inNamedOrder = <T extends { readonly name: string }>(names: readonly string[], all: readonly T[]) =>
  names.map(
    (name) =>
      all.find((each) => each.name === name) ?? {
        name,
        kind: 'refused' as const,
        reason: 'the provider did not answer for it',
      },
  );

/** Stands in for an answer that the provider did not give, or that does not fit. */
export const retriedBy = (name: string) => (id: string, reason: string) =>
  ({ kind: 'retry', id, reason: `${name}: ${reason}` }) as const;

const checkNotes = (notes: Notes, { bound, reading }: AbilityCheck): Notes => ({
  find: (recordId, marker, since, signal) =>
    bound('notes.find', signal, (own) => notes.find(recordId, marker, since, own), answers.readNoteId),
  add: (note, signal) =>
    bound('notes.add', signal, (own) => notes.add({ ...note }, own), answers.readNoteOutcome(reading)),
});

const checkParents = (parents: Parents, { bound, name, reading }: AbilityCheck): Parents => ({
  read: async (ids, signal) => {
    if (ids.length === 0) return [];
    const without = (_id: string, reason: string): never => {
      throw new ProviderError('unavailable', `${name}: ${reason}`);
    };
    const reader = { read: asParentRead(reading.form), without, form: reading.form };
    return bound('parents.read', signal, (own) => parents.read([...ids], own), inOrder(ids, reader));
  },
  write: async (change, signal) => {
    const { id } = change;
    const readOne = inOrder([id], { read: asOutcome(reading), without: retriedBy(name), form: reading.form });
    const write = (own: AbortSignal) => parents.write({ ...change }, own);
    const [checked] = await bound('parents.write', signal, write, (outcome) => readOne([outcome]));
    return checked ?? { kind: 'retry', id, reason: `${name}: no outcome` };
  },
});
