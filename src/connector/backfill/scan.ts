/** Stores every company record of the CRM as a scan row, a page at a time. */
import type { Page, PropertyValue } from '../../../providers/provider.ts';
import type { Crm } from '../crm/crm.ts';
import { holdProperties, isHeld } from '../crm/hold.ts';
import { watchScan } from '../crm/scan-watch.ts';
import { kept, verdictOf } from '../follow/verdict.ts';
import type { Fresh } from './recheck.ts';
import { type BackfillDeps, BackfillError } from './rows/backfill-context.ts';
import { patiently } from './rows/patience.ts';
import { type BackfillProgress, saveRun } from './rows/progress.ts';
import { putRows, type ScanRow } from './rows/scan-rows.ts';

/** The properties a backfill reads of a record. */
export interface Columns {
  readonly match: string;
  readonly name: string | undefined;
  readonly all: readonly string[];
}

/** Throws if the CRM has no property for the number. */
export async function columnsOf(deps: BackfillDeps, signal: AbortSignal): Promise<Columns> {
  const { crm } = deps;
  const { match, name: provider } = crm;
  const where = `connector.providers.${provider}.match`;
  if (match === undefined)
    throw new BackfillError(`set ${where}: the property in which ${provider} keeps the CVR number`);
  const schema = await patiently(deps, () => crm.schema(signal), signal);
  if (!schema.has(match))
    throw new BackfillError(
      `${provider} has no property ${match} that these credentials can read: correct ${where}, or grant it`,
    );
  const name = [...crm.mapping, ...crm.provider.preset].find(
    (row) => row.field === 'name' && schema.has(row.property),
  )?.property;
  return { match, name, all: [...new Set([match, ...(name === undefined ? [] : [name]), ...holdProperties(crm)])] };
}

/**
 * Scans from the run's cursor to the last page. One transaction stores the rows of a page and the cursor behind it,
 * before the next call: a process that ends loses one call.
 */
export async function scanAll(
  deps: BackfillDeps,
  begun: BackfillProgress,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const { store, crm, now, report } = deps;
  const watch = watchScan(crm.name);
  let run = begun;
  for (;;) {
    const page = await patiently(deps, () => crm.connection.scan(columns.all, run.cursor, signal), signal);
    await watch(page);
    const { cursor } = page;
    const at = now();
    const rows = rowsOf(page, run.end, (properties) => stateOf(crm, columns, properties, at));
    const { cursor: _, ...rest } = run;
    run = {
      ...rest,
      phase: cursor === undefined ? 'decide' : 'scan',
      ...(cursor !== undefined && { cursor }),
      end: run.end + rows.length,
      scanned: run.scanned + rows.length,
    };
    const reached = run;
    await store.write(async (tx) => {
      await saveRun(tx, crm.name, reached, now());
      await putRows(tx, crm.name, rows);
    });
    report({ phase: 'scan', scanned: run.scanned, seen: rows });
    if (cursor === undefined) return run;
    signal.throwIfAborted();
  }
}

type Properties = Readonly<Record<string, PropertyValue>>;

function rowsOf(page: Page, end: number, read: (properties: Properties) => Fresh): readonly ScanRow[] {
  // A page that names a record twice would be two rows of one key.
  const records = new Map(page.records.map(({ id, properties }) => [id, properties]));
  return [...records].map(([id, properties], at) => ({
    record_id: id,
    position: end + at + 1,
    ...read(properties),
    action: 'skip',
    state: 'planned',
  }));
}

/** Reads the state of a record from its properties; undefined if the CRM cannot read its number. */
export const freshOf =
  (crm: Crm, columns: Columns, now: number) =>
  (properties: Properties): Fresh | undefined =>
    properties[columns.match] === undefined ? undefined : stateOf(crm, columns, properties, now);

function stateOf(crm: Crm, { match, name }: Columns, properties: Properties, now: number): Fresh {
  const value = properties[match] ?? null;
  return {
    name: name === undefined ? null : kept(properties[name]),
    found: kept(value),
    ...verdictOf(value, isHeld(crm, properties, now)),
  };
}
