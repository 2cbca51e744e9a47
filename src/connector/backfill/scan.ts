/** scan: every company of the CRM into the scan, a page at a time. */
import type { Page, PropertyValue } from '../../../providers/provider.ts';
import type { Crm } from '../crm/crm.ts';
import { isHeld } from '../decide/hold.ts';
import type { Fresh } from './recheck.ts';
import { type BackfillDeps, BackfillError } from './rows/context.ts';
import { patiently } from './rows/patience.ts';
import { putRows, type ScanRow } from './rows/rows.ts';
import { type BackfillRun, saveRun } from './rows/run.ts';
import { kept, verdictOf } from './rows/verdict.ts';

/** The properties a backfill reads of a record. */
export interface Columns {
  readonly match: string;
  readonly name: string | undefined;
  readonly all: readonly string[];
}

/** Throws where the CRM has no property for the number. */
export async function columnsOf(deps: BackfillDeps, signal: AbortSignal): Promise<Columns> {
  const { crm } = deps;
  const { match, hold, name: provider } = crm;
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
  return { match, name, all: [...new Set([match, name, hold].filter((one) => one !== undefined))] };
}

/**
 * Scans from where the run stands to the last page. A page's rows and the cursor behind it are one transaction, and the
 * next page is asked for afterwards: a kill costs one call, and storing a page is soon done beside the call for it.
 */
export async function scanAll(
  deps: BackfillDeps,
  begun: BackfillRun,
  columns: Columns,
  signal: AbortSignal,
): Promise<BackfillRun> {
  const { store, crm, now, report } = deps;
  let run = begun;
  for (;;) {
    const page = await patiently(deps, () => crm.connection.scan(columns.all, run.cursor, signal), signal);
    const { cursor } = page;
    if (cursor !== undefined && cursor === run.cursor)
      throw new Error(`the scan of ${crm.name} stands still: a cursor came twice`);
    const rows = rowsOf(crm, columns, page, run.end, now());
    const { cursor: _, ...rest } = run;
    run = {
      ...rest,
      phase: cursor === undefined ? 'judge' : 'scan',
      ...(cursor !== undefined && { cursor }),
      end: run.end + rows.length,
      scanned: run.scanned + rows.length,
    };
    const at = run;
    await store.write(async (tx) => {
      await saveRun(tx, crm.name, at, now());
      await putRows(tx, crm.name, rows);
    });
    report({ phase: 'scan', scanned: run.scanned, seen: rows });
    if (cursor === undefined) return run;
    signal.throwIfAborted();
  }
}

function rowsOf(crm: Crm, columns: Columns, page: Page, end: number, now: number): readonly ScanRow[] {
  // A page that names a record twice would be two rows of one key.
  const records = new Map(page.records.map(({ id, properties }) => [id, properties]));
  return [...records].map(([id, properties], at) => ({
    record_id: id,
    position: end + at + 1,
    ...stateOf(crm, columns, properties, now),
    action: 'skip',
    state: 'planned',
  }));
}

/** What a record's properties say of it; undefined where the CRM cannot read its number. */
export const freshOf =
  (crm: Crm, columns: Columns, now: number) =>
  (properties: Readonly<Record<string, PropertyValue>>): Fresh | undefined =>
    properties[columns.match] === undefined ? undefined : stateOf(crm, columns, properties, now);

function stateOf(
  crm: Crm,
  { match, name }: Columns,
  properties: Readonly<Record<string, PropertyValue>>,
  now: number,
): Fresh {
  const value = properties[match] ?? null;
  return {
    name: name === undefined ? null : kept(properties[name]),
    found: kept(value),
    ...verdictOf(value, isHeld(crm, properties, now)),
  };
}
