/** The first list: every record of the CRM, with its number. */
import { sql } from 'kysely';
import type { Page, PropertyValue } from '../../../providers/provider.ts';
import { eachRow } from '../../store/each.ts';
import { withoutErased } from '../../store/erasure/erasures.ts';
import type { ScanTable } from '../../store/schema.ts';
import type { Tx } from '../../store/store.ts';
import { holdProperties, isHeld } from '../crm/hold.ts';
import { patiently } from '../crm/patience.ts';
import { watchScan } from '../crm/scan-watch.ts';
import { readMatch } from '../follow/match-property.ts';
import { kept, type NumberVerdict, verdictOf } from '../follow/verdict.ts';
import { deleteScanRows } from '../links/scan-rows.ts';
import { type ReconcileContext, writeHeld } from './context.ts';

const PURPOSE = 'reconcile';

export interface ScannedRecords {
  readonly count: number;
  /** Whether the match property can be read: otherwise numbers are not compared. */
  readonly numbers: boolean;
}

/**
 * Scans the CRM page by page; requests the next page while one is stored. All or nothing: a missing page throws, and an
 * incomplete list is never compared.
 */
export async function readRecords(context: ReconcileContext, signal: AbortSignal): Promise<ScannedRecords> {
  const { crm, now, report, waiting } = context;
  const schema = await crm.schema(signal);
  const match = await readMatch(context.store, crm, schema, now());
  const properties = [...new Set([...(match === undefined ? [] : [match]), ...holdProperties(crm)])];
  const ask = (cursor: string | undefined): Promise<Page> =>
    patiently({ crm, now, report: waiting }, () => crm.connection.scan(properties, cursor, signal), signal);
  const watch = watchScan(crm.name);
  let count = 0;
  let next: Promise<Page> | undefined = ask(undefined);
  while (next !== undefined) {
    const page: Page = await next;
    const { records, cursor } = page;
    await watch(page);
    next = undefined;
    if (cursor !== undefined) {
      next = ask(cursor);
      // The request may fail while the former page is stored; the later await reports it.
      next.catch(() => {});
    }
    const rows = records.map(({ id, properties: of }) => rowOf(context, match, id, of));
    await writeHeld(context, (tx) => putRecords(tx, crm.name, rows, count));
    count += rows.length;
    report?.({ reading: 'records', count });
    signal.throwIfAborted();
  }
  return { count, numbers: match !== undefined };
}

type ScanRow = Pick<ScanTable, 'record_id' | 'found' | 'entity' | 'verdict' | 'action'>;

function rowOf(
  { crm, now }: ReconcileContext,
  match: string | undefined,
  id: string,
  properties: Readonly<Record<string, PropertyValue>>,
): ScanRow {
  const held = isHeld(crm, properties, now());
  const row = { record_id: id, action: held ? 'held' : 'skip' };
  const value = match === undefined ? undefined : properties[match];
  if (value === undefined) return { ...row, found: null, entity: null, verdict: 'unreadable' };
  return { ...row, found: kept(value), ...verdictColumns(verdictOf(value, held)) };
}

const verdictColumns = ({ verdict, entity }: NumberVerdict): Pick<ScanRow, 'verdict' | 'entity'> => ({
  verdict,
  entity,
});

/** Record ids may repeat; the last one wins. */
async function putRecords(tx: Tx, provider: string, given: readonly ScanRow[], from: number): Promise<void> {
  const rows = await withoutErased(tx, given, ({ entity }) => entity);
  const distinct = [...new Map(rows.map((row) => [row.record_id, row])).values()];
  if (distinct.length === 0) return;
  const values = distinct.map((row, index) => ({ ...row, position: from + index }));
  await sql`insert into scan
      (provider, purpose, record_id, position, name, found, entity, verdict, action, state, detail)
    select cast(${provider} as text), ${sql.lit(PURPOSE)}, each.record_id, cast(each.position as bigint),
      null, each.found, each.entity, each.verdict, each.action, 'planned', null
    from ${eachRow(tx, ['record_id', 'position', 'found', 'entity', 'verdict', 'action'], values)} where true
    on conflict (provider, purpose, record_id) do update set found = excluded.found, entity = excluded.entity,
      verdict = excluded.verdict, action = excluded.action`.execute(tx);
}

/** Rows in one step: short enough for other writes. */
const STEP = 2_000;

export async function forgetLists(context: ReconcileContext): Promise<void> {
  const { name } = context.crm;
  for (let left = true; left; ) {
    left = await writeHeld(context, (tx) => forgetSome(tx, name));
    // SQLite runs on the main thread: lets waiting requests go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function forgetSome(tx: Tx, provider: string): Promise<boolean> {
  if (await deleteScanRows(tx, provider, PURPOSE, STEP)) return true;
  const items = await tx
    .deleteFrom('scan_item')
    .where('provider', '=', provider)
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('entity', 'record_id'),
        'in',
        selectFrom('scan_item as old')
          .select(['old.entity', 'old.record_id'])
          .where('old.provider', '=', provider)
          .limit(STEP)
          .$asTuple('entity', 'record_id'),
      ),
    )
    .executeTakeFirst();
  return items.numDeletedRows > 0n;
}
