/**
 * The fence around a connection: what a provider answers is checked before anything is done with it.
 *
 * A plugin that answers for other records, for too few, twice, in another order or in another shape must not have one
 * company's values written over another one's; one that hangs must not keep a lane for ever, nor the daemon from stopping.
 * What can be trusted goes through: an answer names its record, so that order costs nothing, and silence is `retry`.
 *
 * A provider gets copies of what it is given: one that sorts, empties or edits them in place changes nothing here.
 */
import { misfitText, propertiesMisfit } from '../../../../providers/misfit.ts';
import { type Connection, type Patch, type Property, ProviderError } from '../../../../providers/provider.ts';
import { type AnswerCheckOptions, boundVerb } from './bound-call.ts';
import { checkAbilities, retriedBy } from './check-abilities.ts';
import { asOutcome, asRead, inOrder, leftOut, wholeRead } from './check-records.ts';
import * as shape from './check-shape.ts';
import { type AnswerReading, isText, maskerFor, readList, readObject, ShapeError } from './check-values.ts';
import { described } from './described.ts';

/** What was granted or taken away since shows within this time. */
const SCHEMA_MS = 60_000;

/** Which of the names can be read, by the schema; what it does not know cannot. */
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

/** The same connection, guarded; it has the abilities the other has. */
export function checkAnswers(connection: Connection, options: AnswerCheckOptions): Connection {
  const { name, form = (id) => id, mask } = options;
  const reading: AnswerReading = { form, masked: maskerFor(mask) };
  const bound = boundVerb(options, reading.masked);
  const fence = { bound, name, reading };
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
      throw new ProviderError('refused', `${name}: its scan gave the same cursor again, and would never end`);
    },
    ...checkAbilities(connection, fence),
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
