/** Decides which scanned rows may be linked, by the links that exist and the numbers that several records share. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { UNSURE, type Verdict } from '../follow/verdict.ts';
import { readSkips, SKIPPED } from './plan/skipped.ts';
import type { ScanRow } from './rows/scan-rows.ts';

/** The rows with their final verdicts, and with `link` for those that may be linked. Reads the links and the whole scan. */
export async function decideRows(db: Db, provider: string, rows: readonly ScanRow[]): Promise<readonly ScanRow[]> {
  const links = await linksOf(
    db,
    provider,
    rows.map((row) => row.record_id),
  );
  const entities = [
    ...new Set(rows.flatMap((row) => (row.verdict === 'matched' && row.entity !== null ? row.entity : []))),
  ];
  const [shared, taken, skips] = await Promise.all([
    sharedNumbers(db, provider, entities),
    recordsWith(db, provider, entities),
    readSkips(
      db,
      provider,
      rows.map((row) => row.record_id),
    ),
  ]);
  return rows.map((row) => decideRow(row, { links, shared, taken, skips }));
}

/** What is known beside the rows themselves. */
interface Evidence {
  /** By record. */
  readonly links: ReadonlyMap<string, Bound>;
  /** By company: its number in several records of the scan. */
  readonly shared: ReadonlyMap<string, Twins>;
  /** By company: the records that are linked to it. */
  readonly taken: ReadonlyMap<string, readonly string[]>;
  /** By record: the company that a plan file did not link it to. */
  readonly skips: ReadonlyMap<string, string>;
}

function decideRow(row: ScanRow, { links, shared, taken, skips }: Evidence): ScanRow {
  const link = links.get(row.record_id);
  if (link !== undefined && link.state !== 'removed') return { ...row, ...ofLinked(row, link), action: 'skip' };
  if (row.verdict !== 'matched' || row.entity === null) return row.action === 'skip' ? row : { ...row, action: 'skip' };
  if (link?.entity === row.entity) return { ...row, verdict: 'removed', detail: REMOVED, action: 'skip' };
  const rival = rivalOf(row, taken.get(row.entity), shared.get(row.entity));
  if (rival !== undefined) return { ...row, verdict: 'ambiguous' satisfies Verdict, action: 'skip', detail: rival };
  if (skips.get(row.record_id) === row.entity) return { ...row, action: 'skip', detail: SKIPPED };
  return { ...row, action: UNSURE.includes(row.detail) ? 'skip' : 'link' };
}

/** Which other records stand for the same company; undefined if none does. */
function rivalOf(
  { record_id: own }: ScanRow,
  linked: readonly string[] | undefined,
  twins: Twins | undefined,
): string | undefined {
  const other = linked?.find((id) => id !== own);
  if (other !== undefined) return `record ${other} stands for this company already`;
  return twins && describedTwins(twins, own);
}

const REMOVED = 'a person removed its link to this company: cvrsync monitoring add makes it again';

interface Bound {
  readonly entity: string;
  readonly state: string;
}

/** The links that count, and those that a person removed. */
async function linksOf(db: Db, provider: string, ids: readonly string[]): Promise<ReadonlyMap<string, Bound>> {
  const rows = await db
    .selectFrom('link')
    .select(['record_id', 'entity', 'state'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where(({ eb, and, or }) =>
      or([eb('state', 'in', ['active', 'conflict']), and([eb('state', '=', 'removed'), eb('origin', '=', 'person')])]),
    )
    .execute();
  return new Map(rows.map((row) => [row.record_id, row]));
}

function ofLinked({ entity }: ScanRow, link: Bound): { verdict: Verdict; detail: string | null } {
  if (link.state === 'conflict')
    return { verdict: 'differs', detail: 'its link waits for a person: see cvrsync review' };
  if (entity !== null && entity !== link.entity)
    return { verdict: 'differs', detail: `it is linked to ${link.entity}, and its number says ${entity}` };
  return { verdict: 'linked', detail: entity === null ? `linked to ${link.entity} without a number` : null };
}

/** Records that are linked to these companies, by company. */
async function recordsWith(
  db: Db,
  provider: string,
  entities: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('link')
    .select(['entity', 'record_id'])
    .where('entity', 'in', each(db, entities))
    .where('provider', '=', provider)
    .where('state', 'in', ['active', 'conflict'])
    .execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.entity)].map(([entity, of]) => [entity, of.map((one) => one.record_id)]),
  );
}

interface Twins {
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

/** Companies whose number several records of the scan have. */
async function sharedNumbers(
  db: Db,
  provider: string,
  entities: readonly string[],
): Promise<ReadonlyMap<string, Twins>> {
  const rows = await db
    .selectFrom('scan')
    .select(({ fn }) => [
      'entity',
      fn.min('record_id').as('first'),
      fn.max('record_id').as('last'),
      sql<number>`cast(${fn.countAll()} as bigint)`.as('count'),
    ])
    .where('provider', '=', provider)
    .where('purpose', '=', 'backfill')
    .where('entity', 'in', each(db, entities))
    .groupBy('entity')
    .having(({ fn }) => fn.countAll(), '>', 1)
    .execute();
  return new Map(rows.flatMap(({ entity, ...twins }) => (entity === null ? [] : [[entity, twins]])));
}

const describedTwins = ({ first, last, count }: Twins, own: string): string =>
  count === 2
    ? `record ${own === first ? last : first} has the same number`
    : `${count} records have this number, among them ${first} and ${last}`;
