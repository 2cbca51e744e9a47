/** What linking would change, property by property: facts that are known already beside what the CRM holds. */
import type { FieldName } from '../../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../../providers/provider.ts';
import { planRecord, rowsFor } from '../../decide/plan.ts';
import type { Planned } from '../../decide/planned.ts';
import { readFacts, readKnownAddresses, readKnownValues } from '../../facts/facts.ts';
import type { BackfillDeps } from './backfill-context.ts';
import { patiently } from './patience.ts';
import type { BackfillProgress } from './progress.ts';
import type { ScanRow } from './scan-rows.ts';

/** `old → new` by property, for one record. */
export type Differences = Readonly<Record<string, string>>;

export interface Comparer {
  /** The properties that may differ. */
  readonly properties: readonly string[];
  /** By record id; records of companies without facts are not read. One call for each batch of the others. */
  compare(rows: readonly ScanRow[], signal: AbortSignal): Promise<ReadonlyMap<string, Differences>>;
}

/** Compares records with facts; without properties if no fact is known of any company of the plan. */
export async function openComparer(
  deps: BackfillDeps,
  { trust }: BackfillProgress,
  signal: AbortSignal,
): Promise<Comparer> {
  const { store, crm } = deps;
  const schema = await patiently(deps, () => crm.schema(signal), signal);
  const mapped = rowsFor(crm.mapping, schema).filter((row) => schema.has(row.property));
  const fields = [...new Set(mapped.map((row): FieldName => row.field))];
  const isAnyKnown = await knowsAny(deps);
  const properties = isAnyKnown
    ? [...new Set(mapped.flatMap(({ property }) => [property, schema.get(property)?.currencyIn ?? []].flat()))]
    : [];
  return {
    properties,
    async compare(rows, signal) {
      const linkable = rows.filter((row) => row.action === 'link' && row.entity !== null);
      if (properties.length === 0 || linkable.length === 0) return new Map();
      const entities = [...new Set(linkable.flatMap((row) => row.entity ?? []))];
      const known = await readKnownValues(store.db, entities, fields);
      const wholes = await readKnownAddresses(store.db, entities, fields);
      const factsOf = Map.groupBy(await readFacts(store.db, entities), (fact) => fact.entity);
      const reported = linkable.filter((row) => factsOf.has(row.entity ?? ''));
      if (reported.length === 0) return new Map();
      const ids = reported.map((row) => row.record_id);
      const reads = await patiently(deps, () => crm.connection.read(ids, properties, signal), signal);
      return new Map(
        reported.flatMap((row, at) => {
          const read = reads[at];
          if (read?.kind !== 'found') return [];
          const entity = row.entity ?? '';
          const planned = planRecord({
            entity,
            mapping: crm.mapping,
            values: crm.values,
            persons: crm.persons,
            currency: crm.currency,
            dashboard: crm.dashboard,
            schema,
            facts: new Map((factsOf.get(entity) ?? []).map((fact) => [fact.field, fact])),
            known: (field) => known(entity, field),
            wholes: wholes(entity),
            remembered: new Map(),
            overrides: new Map(),
            trust,
            crm: read.properties,
          });
          return [[row.record_id, registerValueOf(planned, schema)] as const];
        }),
      );
    },
  };
}

const registerValueOf = (planned: readonly Planned[], schema: ReadonlyMap<string, Property>): Differences =>
  Object.fromEntries(
    planned.flatMap(({ property, action, old, now }) => {
      if (!schema.has(property) || (action !== 'write' && action !== 'keep')) return [];
      const reported =
        action === 'write' ? `${shown(old)} → ${shown(now)}` : `${shown(old)} stays (register: ${shown(now)})`;
      return [[property, reported]];
    }),
  );

const shown = (value: PropertyValue): string => (value === null || value === '' ? '(blank)' : String(value));

/** Whether a fact is known of any company that is to be linked. */
async function knowsAny({ store, crm }: BackfillDeps): Promise<boolean> {
  const row = await store.db
    .selectFrom('scan')
    .select('record_id')
    .where('provider', '=', crm.name)
    .where('purpose', '=', 'backfill')
    .where('action', '=', 'link')
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('fact').select('fact.field').whereRef('fact.entity', '=', 'scan.entity')),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
