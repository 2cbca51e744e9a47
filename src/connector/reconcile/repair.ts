/** repair: what is done about differences, a page at a time. Nothing is ended here: that is for who reads the record. */
import { mark } from '../../runtime/lanes.ts';
import { pause } from '../../runtime/pause.ts';
import { each } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import { healQueue, linkKey, MONITORING_QUEUE } from '../links.ts';
import { type Upstream, UpstreamError, type UpstreamResult } from '../upstream.ts';
import { DIFFERENCES, type Difference, KINDS, type Kind, pageOf, type Repair } from './differences.ts';
import { type Ground, writeHeld } from './ground.ts';
import type { Survey } from './survey.ts';

/** Who asked: a daemon tells the service to drop nothing that was never ours to begin with. */
export interface Mandate {
  /** A person has said yes to what was shown. */
  readonly person: boolean;
  /** Also what is concluded from lists in doubt. */
  readonly doubtful: boolean;
}

/** What becomes of the differences of one kind. */
export type Verdict = 'repaired' | 'doubt' | 'person';

/** What would be done about a kind, by whom was asked. */
export function verdictOf(kind: Kind, { doubts }: Survey, { person, doubtful }: Mandate): Verdict {
  const { repair, grounds } = DIFFERENCES[kind];
  if (repair === 'person' || (repair === 'delete' && !person)) return 'person';
  const isDoubted = grounds.some((basis) => doubts.some((doubt) => doubt.basis === basis));
  return isDoubted && !doubtful ? 'doubt' : 'repaired';
}

/** How many differences of each kind were repaired, and the items that the service would not drop. */
export interface Repaired {
  readonly counts: Readonly<Partial<Record<Kind, number>>>;
  readonly refused: readonly string[];
}

const PAGE = 500;

/** Repairs what may be. Idempotent; throws {@link UpstreamError} where the service cannot be told. */
export async function repairAll(
  ground: Ground,
  surveyed: Survey,
  mandate: Mandate,
  signal: AbortSignal,
): Promise<Repaired> {
  const counts: Partial<Record<Kind, number>> = {};
  const refused: string[] = [];
  for (const kind of KINDS) {
    if (surveyed.counts[kind] === 0 || verdictOf(kind, surveyed, mandate) !== 'repaired') continue;
    let done = 0;
    let after: Difference | undefined;
    for (;;) {
      signal.throwIfAborted();
      const page = await pageOf(ground.store.db, kind, surveyed.scope, { after, limit: PAGE });
      done += await repairPage(ground, surveyed, DIFFERENCES[kind].repair, page, refused, signal);
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    counts[kind] = done;
  }
  return { counts, refused };
}

async function repairPage(
  ground: Ground,
  { scope }: Survey,
  repair: Repair,
  page: readonly Difference[],
  refused: string[],
  signal: AbortSignal,
): Promise<number> {
  const records = page.map(({ record }) => record);
  const { crm, now } = ground;
  if (page.length === 0 || repair === 'person') return 0;
  if (repair === 'delete') return deleteItems(ground, page, refused, signal);
  await writeHeld(ground, async (tx) => {
    if (repair === 'heal') return mark(tx, healQueue(crm.name), records, now());
    return carryAgain(tx, { provider: crm.name, records, wish: repair === 'add' ? 'on' : 'off', scope, now: now() });
  });
  return page.length;
}

interface Carried {
  readonly provider: string;
  readonly records: readonly string[];
  readonly wish: 'on' | 'off';
  readonly scope: { readonly before: number };
  readonly now: number;
}

/** What upstream last confirmed no longer counts: the wishes are carried again. A wish that changed meanwhile has its own lane. */
async function carryAgain(tx: Tx, { provider, records, wish, scope, now }: Carried): Promise<void> {
  const keys = records.map((record) => linkKey(provider, record));
  await mark(tx, MONITORING_QUEUE, keys, now);
  await tx
    .updateTable('link')
    .set({ monitored: 'unknown', updated_at: now })
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, records))
    .where('wish', '=', wish)
    .where('updated_at', '<', scope.before)
    .execute();
}

const AT_ONCE = 4;
const TRIES = 3;
const LONGEST_WAIT_MS = 2 * 60_000;

/** Tells the service to drop items that no link speaks of, and looks again afterwards: a link may have been made meanwhile. */
async function deleteItems(
  ground: Ground,
  items: readonly Difference[],
  refused: string[],
  signal: AbortSignal,
): Promise<number> {
  const { upstream } = ground;
  if (upstream === undefined) return 0;
  let done = 0;
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const some = await unwished(ground, items.slice(start, start + AT_ONCE));
    const results = await Promise.all(some.map((item) => deleteItem(ground, upstream, item, signal)));
    await writeHeld(ground, (tx) => wishAgain(tx, ground, some));
    for (const [index, { kind, ...rest }] of results.entries()) {
      const { record, entity } = some[index] ?? { record: '', entity: '' };
      if (kind === 'done') done += 1;
      else refused.push(`${record} (${entity}): ${'message' in rest ? rest.message : kind}`);
    }
  }
  return done;
}

/** Those that no link wishes at this moment. */
async function unwished({ store, crm }: Ground, items: readonly Difference[]): Promise<readonly Difference[]> {
  const wished = await wishesOf(store.db, crm.name, items);
  return items.filter((item) => !wished.has(`${item.record} ${item.entity}`));
}

async function wishesOf(
  db: Ground['store']['db'],
  provider: string,
  items: readonly Difference[],
): Promise<ReadonlySet<string>> {
  const ids = items.map(({ record }) => record);
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('wish', '=', 'on')
    .execute();
  return new Set(links.map((link) => `${link.record_id} ${link.entity}`));
}

/** A link of the same record and company that was made while the service dropped the item is carried once more. */
async function wishAgain(tx: Tx, { crm, now }: Ground, items: readonly Difference[]): Promise<void> {
  const wished = await wishesOf(tx, crm.name, items);
  const records = items.filter((item) => wished.has(`${item.record} ${item.entity}`)).map(({ record }) => record);
  if (records.length === 0) return;
  const scope = { before: Number.MAX_SAFE_INTEGER };
  await carryAgain(tx, { provider: crm.name, records, wish: 'on', scope, now: now() });
}

async function deleteItem(
  { crm }: Ground,
  upstream: Upstream,
  { record, entity }: Difference,
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
