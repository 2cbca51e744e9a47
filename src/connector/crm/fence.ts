/**
 * The fence around a connection: what a provider answers is checked before anything is done with it.
 *
 * A plugin that answers for other records, for too few, twice, in another order or in another shape must not have one
 * company's values written over another one's; one that hangs must not keep a lane for ever, nor the daemon from stopping.
 * What can be trusted goes through: an answer names its record, so that order costs nothing, and silence is `retry`.
 */
import { type Connection, type Notes, type Parents, ProviderError } from '../../../providers/provider.ts';
import { type Bound, boundVerb, type FenceOptions } from './fence-bound.ts';
import * as shape from './fence-shape.ts';
import type { IdForm } from './record-id.ts';

/** The same connection, guarded; it has the abilities the other has. */
export function fenceConnection(connection: Connection, options: FenceOptions): Connection {
  const { name, form = (id) => id } = options;
  const bound = boundVerb(options);
  const retried = retriedBy(name);
  const { changes, find, create, defineProperties, rules, missingRights, notes, parents } = connection;
  return {
    check: (signal) => bound('check', signal, (own) => connection.check(own), shape.readAccount),
    properties: (signal) => bound('properties', signal, (own) => connection.properties(own), shape.readProperties),
    read: async (ids, properties, signal) => {
      if (ids.length === 0) return [];
      const all = await bound('read', signal, (own) => connection.read(ids, properties, own), shape.readList);
      return shape.inOrder(ids, all, { read: shape.asRead(properties, form), without: retried, form });
    },
    update: async (patches, signal) => {
      if (patches.length === 0) return [];
      const all = await bound('update', signal, (own) => connection.update(patches, own), shape.readList);
      const ids = patches.map((patch) => patch.id);
      return shape.inOrder(ids, all, { read: shape.asOutcome(form), without: retried, form });
    },
    scan: async (properties, cursor, signal) => {
      const page = await bound('scan', signal, (own) => connection.scan(properties, cursor, own), shape.readPage(form));
      if (page.cursor === undefined || page.cursor !== cursor) return page;
      throw new ProviderError('refused', `${name}: its scan gave the same cursor again, and would never end`);
    },
    ...(changes !== undefined && {
      changes: (properties: readonly string[], cursor: string | undefined, signal: AbortSignal) =>
        bound('changes', signal, (own) => changes.call(connection, properties, cursor, own), shape.readChanges(form)),
    }),
    ...(find !== undefined && {
      find: (property: string, value: string, signal: AbortSignal) =>
        bound('find', signal, (own) => find.call(connection, property, value, own), shape.readSearch(form)),
    }),
    ...(create !== undefined && {
      create: (properties: Parameters<typeof create>[0], signal: AbortSignal) =>
        bound('create', signal, (own) => create.call(connection, properties, own), shape.readCreated(form)),
    }),
    ...(defineProperties !== undefined && {
      defineProperties: async (definitions: Parameters<typeof defineProperties>[0], signal: AbortSignal) => {
        const make = (own: AbortSignal) => defineProperties.call(connection, definitions, own);
        const all = await bound('defineProperties', signal, make, shape.readDefined);
        return definitions.map(
          (asked) =>
            all.find((each) => each.name === asked.name) ?? {
              name: asked.name,
              kind: 'refused' as const,
              reason: 'the provider said nothing of it',
            },
        );
      },
    }),
    ...(rules !== undefined && {
      rules: (signal: AbortSignal) => bound('rules', signal, (own) => rules.call(connection, own), shape.readRules),
    }),
    ...(missingRights !== undefined && {
      missingRights: (rights: Parameters<typeof missingRights>[0], signal: AbortSignal) =>
        bound(
          'missingRights',
          signal,
          (own) => missingRights.call(connection, rights, own),
          shape.readMissingRights(rights),
        ),
    }),
    ...(notes !== undefined && { notes: fenceNotes(notes, bound) }),
    ...(parents !== undefined && { parents: fenceParents(parents, bound, name, form) }),
  };
}

/** What a record is that the provider did not answer for. */
const retriedBy = (name: string) => (id: string, reason: string) =>
  ({ kind: 'retry', id, reason: `${name}: ${reason}` }) as const;

const fenceNotes = (notes: Notes, bound: Bound): Notes => ({
  find: (recordId, marker, since, signal) =>
    bound('notes.find', signal, (own) => notes.find(recordId, marker, since, own), shape.readNoteId),
  add: (note, signal) => bound('notes.add', signal, (own) => notes.add(note, own), shape.readNoteOutcome),
});

const fenceParents = (parents: Parents, bound: Bound, name: string, form: IdForm): Parents => ({
  read: async (ids, signal) => {
    if (ids.length === 0) return [];
    const all = await bound('parents.read', signal, (own) => parents.read(ids, own), shape.readList);
    const without = (_id: string, reason: string): never => {
      throw new ProviderError('unavailable', `${name}: ${reason}`);
    };
    return shape.inOrder(ids, all, { read: shape.asParentRead(form), without, form });
  },
  write: async (change, signal) => {
    const outcome = await bound(
      'parents.write',
      signal,
      (own) => parents.write(change, own),
      (value) => [value],
    );
    const [checked] = shape.inOrder([change.id], outcome, {
      read: shape.asOutcome(form),
      without: retriedBy(name),
      form,
    });
    return checked ?? { kind: 'retry', id: change.id, reason: `${name}: no outcome` };
  },
});
