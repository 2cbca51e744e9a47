/**
 * Checks each answer of a provider before anything uses it.
 *
 * A plugin may answer for other records, for too few, twice, in another order or in another shape: no company's values
 * may be written over another one's. A plugin that hangs must not keep a lane for ever or stop the daemon from ending.
 * Each answer names its record, so the order does not matter; a missing answer counts as `retry`.
 *
 * A provider gets copies of its arguments: it may sort, empty or edit them in place.
 */
import { propertiesMisfit } from '../../../../providers/contract-schemas.ts';
import { misfitText } from '../../../../providers/misfit.ts';
import { type Connection, type Patch, type Property, ProviderError } from '../../../../providers/provider.ts';
import { checkAbilities, retriedBy } from './abilities.ts';
import * as answers from './answers.ts';
import { type AnswerCheckOptions, boundVerb } from './bound-call.ts';
import { asOutcome, asRead, inOrder, leftOut, wholeRead } from './record-answers.ts';
import { type AnswerReading, maskerFor, readList, ShapeError, shownText } from './values.ts';

/** A change of permissions shows within this time. */
const SCHEMA_MS = 60_000;

/** Tells which of the names can be read, by the account's schema; a name that it lacks cannot. */
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

/** The same connection with checked answers, and with the same abilities. */
export function checkAnswers(connection: Connection, options: AnswerCheckOptions): Connection {
  const { name, form = (id) => id, mask } = options;
  const reading: AnswerReading = { form, masked: maskerFor(mask) };
  const bound = boundVerb(options, reading.masked);
  const retried = retriedBy(name);
  return {
    check: (signal) => bound('check', signal, (own) => connection.check(own), answers.readAccount(reading)),
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
      const page = await bound('scan', signal, scan, answers.readPage(reading));
      if (page.cursor === undefined || page.cursor !== cursor) return page;
      throw new ProviderError('refused', `${name}: its scan returned the same cursor again and would never end`);
    },
    ...checkAbilities(connection, { bound, name, reading }),
  };
}

/** The list of properties; the name replaces a label that is not a text. */
const readProperties =
  (reading: AnswerReading) =>
  (answer: unknown): readonly Property[] => {
    const all = readList(answer, 'a list of properties');
    const misfit = propertiesMisfit(all);
    if (misfit !== undefined) throw new ShapeError(misfitText(misfit));
    return (all as readonly Property[]).map((each) => ({
      ...each,
      label: shownText(each.label, reading) ?? each.name,
    }));
  };
