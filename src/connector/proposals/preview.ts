/** Counts what other rules would write into the linked records, as the CRM holds them now. Writes nothing. */
import { sql } from 'kysely';
import { FIELD_NAMES } from '../../../providers/fields.ts';
import type { Connection, PresetRow, Property, PropertyValue } from '../../../providers/provider.ts';
import { inPages, ROWS_AT_ONCE } from '../../store/count.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { holdProperties } from '../crm/hold.ts';
import { patiently } from '../crm/patience.ts';
import { isBlank } from '../decide/decide.ts';
import type { Planned } from '../decide/planned.ts';
import { followedMatch } from '../follow/match-property.ts';
import { activeRecords } from '../links/links.ts';
import { type DecisionRules, rowIn } from '../rules/rules.ts';
import { type LinkedRecord, loadRecords } from '../sync/load.ts';
import { type DecidedRecord, readAndDecide } from '../sync/prepare.ts';

export interface PropertyCount {
  readonly property: string;
  /** Values that only the new rules would write. */
  readonly writes: number;
  /** Of these, those that replace a value. */
  readonly replaced: number;
  /** Of these, those that replace a person's value: neither the register's nor ours. */
  readonly edits: number;
  /** Values without a register value yet, which the next change would overwrite. */
  readonly later: number;
}

export interface PreviewExample {
  readonly record: string;
  readonly entity: string;
  readonly property: string;
  readonly before: PropertyValue;
  readonly after: PropertyValue;
  readonly isEdit: boolean;
}

export interface RulePreview {
  readonly linked: number;
  /** All records, or an even sample of very many. */
  readonly read: number;
  readonly unread: number;
  readonly properties: readonly PropertyCount[];
  readonly examples: readonly PreviewExample[];
  /** The connection is no longer configured: its records get no updates. */
  readonly removes?: true;
}

export interface RulePair {
  readonly before: DecisionRules;
  readonly after: DecisionRules;
}

export interface PreviewRequest extends RulePair {
  readonly crm: Crm;
  readonly sample?: number;
  /** Reads all records if a sample replaces nothing, because that proves nothing about the rest. */
  readonly whole?: true;
  readonly ids?: readonly string[];
}

const SAMPLE = 2_000;
const EXAMPLES = 10;
const PAGE = 1_000;

interface PreviewDeps {
  readonly store: Store;
  readonly now: () => number;
}

export async function previewRules(
  deps: PreviewDeps,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<RulePreview> {
  const { crm, sample = SAMPLE, whole, ids } = request;
  const { db } = deps.store;
  const linked = await countLinks(db, crm.name);
  const count = async (some: AsyncIterable<readonly string[]>): Promise<RulePreview> => {
    const tally = openTally();
    for await (const batch of some) {
      signal.throwIfAborted();
      await patiently(
        { crm, now: deps.now },
        () => countBatch(deps, { ...request, ids: batch }, tally, signal),
        signal,
      );
    }
    return { linked, ...resultOf(tally) };
  };
  if (ids !== undefined) return count(once(ids));
  const step = Math.max(1, Math.ceil(linked / sample));
  const size = crm.limits.batch.read;
  const sampled = await count(linkedIds(db, crm.name, { size, step }));
  if (step === 1 || whole !== true || atStake(sampled) > 0) return sampled;
  return count(linkedIds(db, crm.name, { size, step: 1 }));
}

/** How many values would be written, now or with the next change: if there are none, nobody has to be asked. */
export const atStake = ({ properties, removes, linked }: RulePreview): number =>
  removes === true ? linked : properties.reduce((sum, { writes, later }) => sum + writes + later, 0);

/** Totals for all linked records, estimated from a sample. */
export interface PreviewTotals {
  readonly writes: number;
  readonly replaced: number;
  readonly edits: number;
  readonly later: number;
  readonly isAbout: boolean;
}

export function totalsOf({ linked, read, unread, properties }: RulePreview): PreviewTotals {
  const total = read + unread;
  const part = total === 0 ? 1 : Math.max(1, linked / total);
  const sum = (key: 'writes' | 'replaced' | 'edits' | 'later'): number =>
    Math.round(part * properties.reduce((all, counts) => all + counts[key], 0));
  return {
    writes: sum('writes'),
    replaced: sum('replaced'),
    edits: sum('edits'),
    later: sum('later'),
    isAbout: part > 1,
  };
}

export function totalsText(preview: RulePreview): string {
  if (preview.removes === true) return `it would stop updating ${preview.linked} linked records, and write nothing`;
  const { writes, replaced, edits, later, isAbout } = totalsOf(preview);
  const about = isAbout ? 'about ' : '';
  const of = isAbout
    ? `a sample of ${preview.read} of ${preview.linked} linked records was read`
    : `${preview.read} of ${preview.linked} linked records were read`;
  const more = later > 0 ? `; the next changes would overwrite ${about}${later} more` : '';
  const unread = preview.unread > 0 ? `; the CRM did not answer for ${preview.unread}` : '';
  return `it would write ${about}${writes} values, replace ${about}${replaced}, ${about}${edits} of them written by people${more} (${of}${unread})`;
}

async function* once(ids: readonly string[]): AsyncIterable<readonly string[]> {
  if (ids.length > 0) yield ids;
}

export async function countLinks(db: Db, provider: string): Promise<number> {
  let sum = 0;
  await inPages('', async (after) => {
    const page = db
      .selectFrom('link')
      .select(['record_id', 'state'])
      .where('provider', '=', provider)
      .where('record_id', '>', after)
      .orderBy('record_id')
      .limit(ROWS_AT_ONCE);
    const counted = await db
      .selectFrom(page.as('link'))
      .select(({ fn }) => [
        fn.max('record_id').as('last'),
        sql<number>`cast(coalesce(sum(case when state = 'active' then 1 else 0 end), 0) as bigint)`.as('active'),
      ])
      .executeTakeFirstOrThrow();
    sum += counted.active;
    return counted.last ?? undefined;
  });
  return sum;
}

/** Ids of linked records in batches: of all, or every `step`-th. */
export async function* linkedIds(
  db: Db,
  provider: string,
  { size, step }: { readonly size: number; readonly step: number },
): AsyncIterable<readonly string[]> {
  let taken: string[] = [];
  let seen = 0;
  for (let after = ''; ; ) {
    const page = await activeRecords(db, { provider, after, limit: PAGE });
    for (const id of page) {
      if (seen % step === 0) taken.push(id);
      seen += 1;
      if (taken.length < size) continue;
      yield taken;
      taken = [];
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last;
  }
  if (taken.length > 0) yield taken;
}

interface Tally {
  read: number;
  unread: number;
  readonly properties: Map<string, { writes: number; replaced: number; edits: number; later: number }>;
  readonly examples: Readonly<Record<ExampleKind, PreviewExample[]>>;
}

/** What an example shows; a person looks first at edits that would be lost. */
const EXAMPLE_KINDS = ['edit', 'replaced', 'blank'] as const;
type ExampleKind = (typeof EXAMPLE_KINDS)[number];

const openTally = (): Tally => ({
  ...{ read: 0, unread: 0, properties: new Map() },
  examples: { edit: [], replaced: [], blank: [] },
});

const resultOf = ({ read, unread, properties, examples }: Tally): Omit<RulePreview, 'linked'> => ({
  read,
  unread,
  properties: [...properties]
    .map(([property, counts]) => ({ property, ...counts }))
    .toSorted((a, b) => b.edits - a.edits || b.replaced - a.replaced || b.writes - a.writes),
  examples: EXAMPLE_KINDS.flatMap((kind) => examples[kind]).slice(0, EXAMPLES),
});

interface PreviewBatch extends RulePair {
  readonly crm: Crm;
  readonly ids: readonly string[];
}

/** Reads a batch once, and decides it by the old rules, by the new rules, and as if every policy were `tracked`. */
async function countBatch(
  { store, now }: PreviewDeps,
  batch: PreviewBatch,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const { crm, before, after, ids } = batch;
  const schema = await crm.schema(signal);
  const match = await followedMatch(store.db, crm, schema);
  const records = await loadRecords(store.db, { provider: crm.name, ids, fields: FIELD_NAMES }, now());
  const connection = await readOnce({ ...batch, ids: records.map(({ id }) => id) }, { schema, match }, signal);
  const decideBy = async (rules: DecisionRules, some: readonly LinkedRecord[]): Promise<readonly DecidedRecord[]> => {
    const deciding = { ...crm, ...rules, connection };
    return (await readAndDecide({ store, now }, { crm: deciding, schema, match, records: some }, signal)).found;
  };
  const { rules: tracked, records: alone } = asTracked(after, records);
  const plans = { before: plansOf(await decideBy(before, records)), tracked: plansOf(await decideBy(tracked, alone)) };
  const widened = after.mapping.filter((row) => row.policy === 'always' && rowIn(before, row)?.policy !== 'always');
  for (const decided of await decideBy(after, records)) {
    if (decided.read === undefined || decided.read.kind === 'retry') tally.unread += 1;
    else tally.read += 1;
    countWrites(tally, decided, plans);
    countLater(tally, decided, widened);
  }
}

/** As if nobody had said anything but `tracked`: what is kept then was written by a person. */
export const asTracked = (rules: DecisionRules, records: readonly LinkedRecord[]) => ({
  rules: { ...rules, mapping: rules.mapping.map((row) => ({ ...row, policy: 'tracked' as const })) },
  records: records.map((record) => ({ ...record, overrides: new Map(), trust: 'crm' as const })),
});

type Plans = ReadonlyMap<string, ReadonlyMap<string, Planned>>;

export const plansOf = (found: readonly DecidedRecord[]): Plans =>
  new Map(
    found.map(({ record, planned = [] }) => [record.id, new Map(planned.map((one) => [one.property, one] as const))]),
  );

function countsOf({ properties }: Tally, property: string) {
  const counts = properties.get(property) ?? { writes: 0, replaced: 0, edits: 0, later: 0 };
  properties.set(property, counts);
  return counts;
}

/** Counts writes of the new rules only. */
function countWrites(
  tally: Tally,
  { record: { id, entity }, planned = [] }: DecidedRecord,
  plans: { readonly before: Plans; readonly tracked: Plans },
): void {
  for (const plan of planned) {
    const { action, property, old: before, now: after } = plan;
    const former = plans.before.get(id)?.get(property);
    if (action !== 'write' || (former?.action === 'write' && former.now === after)) continue;
    const counts = countsOf(tally, property);
    counts.writes += 1;
    const kind = kindOf(plan, plans.tracked.get(id)?.get(property));
    const isEdit = kind === 'edit';
    if (kind !== 'blank') counts.replaced += 1;
    if (isEdit) counts.edits += 1;
    const examples = tally.examples[kind];
    if (examples.length < EXAMPLES) examples.push({ record: id, entity, property, before, after, isEdit });
  }
}

/** By the rule, since an unticked checkbox counts as blank. */
function kindOf({ rule, old }: Planned, tracked: Planned | undefined): ExampleKind {
  if (rule === 'blank' || isBlank(old)) return 'blank';
  return tracked?.action === 'keep' ? 'edit' : 'replaced';
}

/** Counts values without a register value yet, in properties that the new rules always overwrite. */
function countLater(tally: Tally, { read, planned }: DecidedRecord, widened: readonly PresetRow[]): void {
  if (read?.kind !== 'found' || planned === undefined) return;
  for (const { property } of widened) {
    const isDecided = planned.some((one) => one.property === property);
    const value = read.properties[property] ?? null;
    if (!isDecided && !isBlank(value) && value !== false) countsOf(tally, property).later += 1;
  }
}

/** The connection with one answer to every read: all properties that either set of rules needs. */
export async function readOnce(
  { crm: { connection }, before, after, ids }: PreviewBatch,
  { schema, match }: { readonly schema: ReadonlyMap<string, Property>; readonly match: string | undefined },
  signal: AbortSignal,
): Promise<Connection> {
  const rows = [...before.mapping, ...after.mapping].map(({ property }) => property);
  const names = [...rows, ...holdProperties(before), ...holdProperties(after), before.match, after.match, match].filter(
    (name) => name !== undefined,
  );
  const properties = [...new Set(names)].filter((name) => schema.has(name));
  const answers = ids.length === 0 ? [] : await connection.read(ids, properties, signal);
  return { ...connection, read: async () => answers };
}
