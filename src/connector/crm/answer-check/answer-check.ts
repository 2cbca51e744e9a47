/**
 * Checks each answer of a provider before anything uses it.
 *
 * A plugin may answer for other records, for too few, twice, in another order or in another shape: no company's values
 * may be written over another one's. A plugin that hangs must not keep a lane for ever or stop the daemon from ending.
 * Each answer names its record, so the order does not matter; a missing answer counts as `retry`.
 *
 * A provider gets copies of its arguments: it may sort, empty or edit them in place.
 */
import { misfitText, propertiesMisfit } from '../../../../providers/misfit.ts';
import { type Connection, type Patch, type Property, ProviderError } from '../../../../providers/provider.ts';
import { type AnswerCheckOptions, boundVerb } from './bound-call.ts';
import { checkAbilities, retriedBy } from './check-abilities.ts';
import { asOutcome, asRead, inOrder, leftOut, wholeRead } from './check-records.ts';
import * as shape from './check-shape.ts';
import { type AnswerReading, isText, maskerFor, readList, readObject, ShapeError } from './check-values.ts';
import { described } from './described.ts';

/** A right that somebody grants or takes away shows within this time. */
const SCHEMA_MS = 60_000;

/** Without a schema, no property counts as readable. */
async function readableOf(
  names: ReadonlySet<string>,
  { schema }: AnswerCheckOptions,
  signal: AbortSignal,
): Promise<(name: string) => boolean> {
  if (names.size === 0 || schema === undefined) return () => false;
  const known = await schema(signal, SCHEMA_MS);
  return (name) => known.has(name) && known.get(name)?.unreadable !== true;
}

const copyOf = ({ id, properties }: Patch): Patch => ({ id, properties: { ...properties } });

export function checkAnswers(connection: Connection, options: AnswerCheckOptions): Connection {
  const { name, form = (id) => id, mask } = options;
  const reading: AnswerReading = { form, masked: maskerFor(mask) };
  const bound = boundVerb(options, reading.masked);
  const verb = { bound, name, reading };
  const retried = retriedBy(name);
  return {
    check: (signal) => bound('check', signal, (own) => connection.check(own), shape.readAccount(reading)),
    properties: (signal) => bound('properties', signal, (own) => connection.properties(own), readProperties(reading)),
    read: async (ids, properties, signal) => {
      if (ids.length === 0) return [];
      const reader = { read: asRead(properties, reading), without: retried, form };
      const read = (own: AbortSignal) => connection.read([...ids], [...properties], own);
      const reads = await bound('read', signal, read, inOrder(ids, reader));
      const lacks = reads.map((each) => leftOut(each, properties));
      const isReadable = await readableOf(new Set(lacks.flat()), options, signal);
      return reads.map((each, at) => wholeRead(each, lacks[at]?.find(isReadable), retried));
    },
    update: async (patches, signal) => {
      if (patches.length === 0) return [];
      const ids = patches.map((patch) => patch.id);
      const sent = new Map(patches.map(({ id, properties }) => [id, Object.keys(properties)]));
      const reader = { read: asOutcome(reading, (id) => sent.get(id) ?? []), without: retried, form };
      const update = (own: AbortSignal) => connection.update(patches.map(copyOf), own);
      return bound('update', signal, update, inOrder(ids, reader));
    },
    scan: async (properties, cursor, signal) => {
      const scan = (own: AbortSignal) => connection.scan([...properties], cursor, own);
      const page = await bound('scan', signal, scan, shape.readPage(reading));
      if (page.cursor === undefined || page.cursor !== cursor) return page;
      throw new ProviderError('refused', `${name}: its scan returned the same cursor again and would never end`);
    },
    ...checkAbilities(connection, verb),
  };
}

const readProperties =
  ({ masked }: AnswerReading) =>
  (answer: unknown): readonly Property[] => {
    const all = readList(answer, 'a list of properties').map((property) => readObject(property, 'a property'));
    const misfit = propertiesMisfit(all);
    if (misfit !== undefined) throw new ShapeError(misfitText(misfit, described));
    return all.map((each) => {
      const property = each as unknown as Property;
      const { label, name } = property;
      return { ...property, label: isText(label) ? masked(label) : name };
    });
  };
