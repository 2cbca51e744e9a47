/** Repairs differences, a page at a time. It ends no link: the heal that reads the record does. */
import { mark } from '../../runtime/lanes/lanes.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { each } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import { type Upstream, UpstreamError, type UpstreamResult } from '../monitoring/upstream.ts';
import { healQueue, linkKey, MONITORING_QUEUE } from '../names/queues.ts';
import { type ReconcileContext, writeHeld } from './context.ts';
import {
  DIFFERENCES,
  type DifferenceKind,
  KINDS,
  pageOf,
  type ReconcileDifference,
  type Repair,
} from './differences.ts';
import type { Survey } from './survey.ts';

/** A daemon never deletes items that were never ours. */
export interface Mandate {
  readonly person: boolean;
  /** Includes conclusions from implausible lists. */
  readonly implausible: boolean;
}

export type RepairResult = 'repaired' | 'mismatch' | 'person';

export function repairResult(kind: DifferenceKind, { doubts }: Survey, { person, implausible }: Mandate): RepairResult {
  const { repair, grounds } = DIFFERENCES[kind];
  if (repair === 'person' || (repair === 'delete' && !person)) return 'person';
  const isDoubted = grounds.some((basis) => doubts.some((doubt) => doubt.basis === basis));
  return isDoubted && !implausible ? 'mismatch' : 'repaired';
}

/** Repaired differences by kind, and items that the service refused to drop. */
export interface Repaired {
  readonly counts: Readonly<Partial<Record<DifferenceKind, number>>>;
  readonly refused: readonly string[];
}

const PAGE = 500;

/** Idempotent; throws {@link UpstreamError} if the service does not answer. */
export async function repairAll(
  context: ReconcileContext,
  surveyed: Survey,
  mandate: Mandate,
  signal: AbortSignal,
): Promise<Repaired> {
  const { scope } = surveyed;
  const counts: Partial<Record<DifferenceKind, number>> = {};
  const refused: string[] = [];
  for (const kind of KINDS) {
    if (surveyed.counts[kind] === 0 || repairResult(kind, surveyed, mandate) !== 'repaired') continue;
    const { repair } = DIFFERENCES[kind];
    let done = 0;
    let after: ReconcileDifference | undefined;
    for (;;) {
      signal.throwIfAborted();
      const page = await pageOf(context.store.db, kind, scope, { after, limit: PAGE });
      done += await repairPage(context, { scope, repair, page, refused }, signal);
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    counts[kind] = done;
  }
  return { counts, refused };
}

interface RepairPage {
  readonly scope: Survey['scope'];
  readonly repair: Repair;
  readonly page: readonly ReconcileDifference[];
  readonly refused: string[];
}

async function repairPage(
  context: ReconcileContext,
  { scope, repair, page, refused }: RepairPage,
  signal: AbortSignal,
): Promise<number> {
  const records = page.map(({ record }) => record);
  const { crm, now } = context;
  if (page.length === 0 || repair === 'person') return 0;
  if (repair === 'delete') return deleteItems(context, page, refused, signal);
  await writeHeld(context, async (tx) => {
    if (repair === 'heal') return mark(tx, healQueue(crm.name), records, now());
    return requestLinksAgain(tx, {
      provider: crm.name,
      records,
      desired: repair === 'add' ? 'on' : 'off',
      scope,
      now: now(),
    });
  });
  return page.length;
}

interface LinkRequests {
  readonly provider: string;
  readonly records: readonly string[];
  readonly desired: 'on' | 'off';
  readonly scope: { readonly before: number };
  readonly now: number;
}

/** Sends the desired state again. A link that changed meanwhile has its own lane. */
async function requestLinksAgain(tx: Tx, { provider, records, desired, scope, now }: LinkRequests): Promise<void> {
  const keys = records.map((record) => linkKey(provider, record));
  await mark(tx, MONITORING_QUEUE, keys, now);
  await tx
    .updateTable('link')
    .set({ observed: 'unknown', updated_at: now })
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, records))
    .where('desired', '=', desired)
    .where('updated_at', '<', scope.before)
    .execute();
}

const AT_ONCE = 4;
const TRIES = 3;
const LONGEST_WAIT_MS = 2 * 60_000;

/** Deletes items without a link at the service, then checks for links made meanwhile. */
async function deleteItems(
  context: ReconcileContext,
  items: readonly ReconcileDifference[],
  refused: string[],
  signal: AbortSignal,
): Promise<number> {
  const { upstream } = context;
  if (upstream === undefined) return 0;
  let done = 0;
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const some = await withoutDesiredLink(context, items.slice(start, start + AT_ONCE));
    const results = await Promise.all(some.map((item) => deleteItem(context, upstream, item, signal)));
    await writeHeld(context, (tx) => requestAgain(tx, context, some));
    for (const [index, { kind, ...rest }] of results.entries()) {
      const { record, entity } = some[index] ?? { record: '', entity: '' };
      if (kind === 'done') done += 1;
      else refused.push(`${record} (${entity}): ${'message' in rest ? rest.message : kind}`);
    }
  }
  return done;
}

async function withoutDesiredLink(
  { store, crm }: ReconcileContext,
  items: readonly ReconcileDifference[],
): Promise<readonly ReconcileDifference[]> {
  const desired = await requestsOf(store.db, crm.name, items);
  return items.filter((item) => !desired.has(`${item.record} ${item.entity}`));
}

async function requestsOf(
  db: ReconcileContext['store']['db'],
  provider: string,
  items: readonly ReconcileDifference[],
): Promise<ReadonlySet<string>> {
  const ids = items.map(({ record }) => record);
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('desired', '=', 'on')
    .execute();
  return new Set(links.map((link) => `${link.record_id} ${link.entity}`));
}

/** Requests again a link of the same record and company that was made during the deletion. */
async function requestAgain(
  tx: Tx,
  { crm, now }: ReconcileContext,
  items: readonly ReconcileDifference[],
): Promise<void> {
  const desired = await requestsOf(tx, crm.name, items);
  const records = items.filter((item) => desired.has(`${item.record} ${item.entity}`)).map(({ record }) => record);
  if (records.length === 0) return;
  const scope = { before: Number.MAX_SAFE_INTEGER };
  await requestLinksAgain(tx, { provider: crm.name, records, desired: 'on', scope, now: now() });
}

async function deleteItem(
  { crm }: ReconcileContext,
  upstream: Upstream,
  { record, entity }: ReconcileDifference,
  signal: AbortSignal,
): Promise<UpstreamResult> {
  for (let tries = 1; ; tries += 1) {
    const result = await upstream.remove({ entityId: entity, id: record }, crm.name, signal);
    if (result.kind === 'done' || result.kind === 'refused') return result;
    const wait = result.kind === 'rate' ? result.retryAfterMs : 1_000 * tries;
    if (result.kind === 'auth' || wait > LONGEST_WAIT_MS || tries === TRIES)
      throw new UpstreamError(result.kind, result.message);
    await pause(wait, signal);
    signal.throwIfAborted();
  }
}
