/** Checks the answers of the optional abilities that a connection has. */
import { type Connection, type Notes, type Parents, ProviderError } from '../../../../providers/provider.ts';
import type { Bound } from './bound-call.ts';
import { asOutcome, asParentRead, inOrder } from './check-records.ts';
import * as shape from './check-shape.ts';
import type { AnswerReading } from './check-values.ts';

/** What the checks of one connection need. */
interface VerbCheck {
  readonly bound: Bound;
  readonly name: string;
  readonly reading: AnswerReading;
}

type Abilities = Omit<Connection, 'check' | 'properties' | 'read' | 'update' | 'scan'>;

export function checkAbilities(connection: Connection, check: VerbCheck): Abilities {
  const { bound, reading } = check;
  const { changes, find, create, defineProperties, rules, missingRights, edits, notes, parents } = connection;
  return {
    ...(changes !== undefined && {
      changes: (properties: readonly string[], cursor: string | undefined, signal: AbortSignal) =>
        bound(
          'changes',
          signal,
          (own) => changes.call(connection, [...properties], cursor, own),
          shape.readChanges(reading),
        ),
    }),
    ...(find !== undefined && {
      find: (property: string, value: string, signal: AbortSignal) =>
        bound('find', signal, (own) => find.call(connection, property, value, own), shape.readSearch(reading)),
    }),
    ...(create !== undefined && {
      create: (properties: Parameters<typeof create>[0], signal: AbortSignal) =>
        bound(
          'create',
          signal,
          (own) => create.call(connection, structuredClone(properties), own),
          shape.readCreated(reading),
        ),
    }),
    ...(defineProperties !== undefined && {
      defineProperties: async (definitions: Parameters<typeof defineProperties>[0], signal: AbortSignal) => {
        const make = (own: AbortSignal) => defineProperties.call(connection, structuredClone(definitions), own);
        const all = await bound('defineProperties', signal, make, shape.readDefined(reading));
        return definitions.map(
          (asked) =>
            all.find((each) => each.name === asked.name) ?? {
              name: asked.name,
              kind: 'refused' as const,
              reason: 'the provider did not answer for it',
            },
        );
      },
    }),
    ...(rules !== undefined && {
      rules: (signal: AbortSignal) =>
        bound('rules', signal, (own) => rules.call(connection, own), shape.readRules(reading)),
    }),
    ...(missingRights !== undefined && {
      missingRights: (rights: Parameters<typeof missingRights>[0], signal: AbortSignal) =>
        bound(
          'missingRights',
          signal,
          (own) => missingRights.call(connection, [...rights], own),
          shape.readMissingRights(rights, reading),
        ),
    }),
    ...(edits !== undefined && {
      edits: async (ids: readonly string[], properties: readonly string[], since: number, signal: AbortSignal) => {
        if (ids.length === 0 || properties.length === 0) return [];
        const read = (own: AbortSignal) => edits.call(connection, [...ids], [...properties], since, own);
        return bound('edits', signal, read, shape.readEdits(ids, properties, reading));
      },
    }),
    ...(notes !== undefined && { notes: checkNotes(notes, check) }),
    ...(parents !== undefined && { parents: checkParents(parents, check) }),
  };
}

/** The answer for a record that the provider did not answer for. */
export const retriedBy = (name: string) => (id: string, reason: string) =>
  ({ kind: 'retry', id, reason: `${name}: ${reason}` }) as const;

const checkNotes = (notes: Notes, { bound, reading }: VerbCheck): Notes => ({
  find: (recordId, marker, since, signal) =>
    bound('notes.find', signal, (own) => notes.find(recordId, marker, since, own), shape.readNoteId),
  add: (note, signal) =>
    bound('notes.add', signal, (own) => notes.add({ ...note }, own), shape.readNoteOutcome(reading)),
});

const checkParents = (parents: Parents, { bound, name, reading }: VerbCheck): Parents => ({
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
