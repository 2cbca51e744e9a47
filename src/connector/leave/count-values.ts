/** Whose values stand in properties that cvrsync created: its own, or those of people and of other software. */
import type { Page, Property, PropertyValue } from '../../../providers/provider.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { patiently } from '../crm/patience.ts';
import { watchScan } from '../crm/scan-watch.ts';
import { isBlank } from '../decide/decide.ts';
import { sameFor } from '../decide/same.ts';
import { readWritten, type WrittenValue } from '../history/written.ts';

/** The values in one property, in all records of the account. */
export interface ValueCount {
  readonly ours: number;
  readonly others: number;
  /** A record with a value of others. */
  readonly example?: string | undefined;
}

export interface CountDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Called before each page: aborts the signal if a person cancelled meanwhile. */
  readonly look: () => Promise<unknown>;
}

/** Reads all records of the CRM. A value counts as ours if cvrsync wrote it last, or the CRM made it of that. */
export async function countValues(
  { store, now, look }: CountDeps,
  crm: Crm,
  properties: readonly Property[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ValueCount>> {
  const names = properties.map(({ name }) => name);
  const counts = new Map<string, ValueCount>(names.map((name) => [name, { ours: 0, others: 0 }]));
  const watch = watchScan(crm.name);
  let cursor: string | undefined;
  do {
    await look();
    const from = cursor;
    const page = await patiently({ crm, now }, () => crm.connection.scan(names, from, signal), signal);
    await watch(page);
    const ids = page.records.map(({ id }) => id);
    const written = await readWritten(store.db, crm.name, ids);
    for (const property of properties)
      for (const record of page.records)
        countOne(crm, counts, property, { ...record, written: written.get(record.id)?.get(property.name) });
    ({ cursor } = page);
  } while (cursor !== undefined);
  return counts;
}

function countOne(
  crm: Pick<Crm, 'mapping'>,
  counts: Map<string, ValueCount>,
  property: Property,
  { id, properties, written }: Page['records'][number] & { readonly written: WrittenValue | undefined },
): void {
  const value = properties[property.name] ?? null;
  if (isEmpty(property, value)) return;
  const { ours, others, example } = counts.get(property.name) ?? { ours: 0, others: 0 };
  counts.set(
    property.name,
    wrote(crm, property, written, value)
      ? { ours: ours + 1, others, example }
      : { ours, others: others + 1, example: example ?? id },
  );
}

/** A checkbox has no blank: false is what it holds before anybody touches it. */
const isEmpty = ({ type }: Property, value: PropertyValue): boolean =>
  isBlank(value) || (type === 'boolean' && String(value) === 'false');

function wrote(
  { mapping }: Pick<Crm, 'mapping'>,
  property: Property,
  written: WrittenValue | undefined,
  value: PropertyValue,
): boolean {
  if (written === undefined) return false;
  // A text is compared as a text, whatever field it was.
  const field = mapping.find((row) => row.property === property.name)?.field ?? 'name';
  const same = sameFor(field, property);
  return same(value, written.value) || (written.stored !== undefined && same(value, written.stored));
}
