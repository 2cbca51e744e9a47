/** Moves a link to the surviving record of a merge in the CRM. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { moveWrites } from '../../runtime/lanes/pending-writes.ts';
import type { Tx } from '../../store/store.ts';
import { moveOverwritten } from '../history/overwritten.ts';
import { copyWritten } from '../history/written.ts';
import { CAME_BY_MERGE, endLink, findLink, type Link, linkRecord, standsFor, updateLink } from '../links/links.ts';
import { setHoldsAside } from '../links/merged-holds.ts';
import { healQueue, linkKey, MONITORING_QUEUE, parentQueue } from '../names/queues.ts';
import { ALL_PROPERTIES, moveTrust, type Override, type Overrides, readOverrides } from '../overrides/override.ts';

export interface LinkMove {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
  readonly now: number;
}

/**
 * `merged`: the survivor belongs to the same company already, or there was no link to move. `conflict`: it belongs to
 * another company, so both links wait for a person. `later`: upstream has not confirmed the end of the survivor's own
 * link; the record is read again.
 */
export type MoveResult = 'moved' | 'merged' | 'conflict' | 'later';

const SOON_MS = 10_000;

/**
 * The CRM may report the merge and its deletion in any order. The survivor is read afterwards: its number may be
 * another company's.
 */
export async function moveLink(tx: Tx, move: LinkMove): Promise<MoveResult> {
  const { provider, from, to, now } = move;
  const before = await findLink(tx, { provider, recordId: from });
  if (before === undefined || from === to) return 'merged';
  if (before.state === 'removed') await copyRemoval(tx, before, to, now);
  if (before.state === 'removed' || before.state === 'merged') return 'merged';
  if (before.state === 'conflict' && before.mismatch === null) return 'conflict';
  await mark(tx, healQueue(provider), [to], now);
  const isMoot = await hasNothingToMove(tx, before);
  if (isMoot && (await standsFor(tx, { provider, recordId: to }, before.entity))) await copyOverrides(tx, move);
  const moved = isMoot ? 'merged' : await linkSurvivor(tx, before, move);
  if (moved === undefined) return contestSurvivor(tx, before, move);
  const end = { provider, recordId: from, now, reason: `merged in the CRM into record ${to}` } as const;
  const ended = await endLink(tx, { ...end, state: 'merged' });
  if (!ended) await updateLink(tx, end, { state: 'merged', reason: end.reason, updated_at: now });
  await setHoldsAside(tx, end);
  return moved;
}

async function linkSurvivor(tx: Tx, before: Link, move: LinkMove): Promise<'moved' | 'merged' | undefined> {
  const { provider, from, to, now } = move;
  const ref = { provider, recordId: to };
  const survivor = await findLink(tx, ref);
  const isOpen = survivor?.state !== 'conflict' || (survivor.entity === before.entity && survivor.mismatch !== null);
  if (!isOpen) return undefined;
  const { entity, origin, trust, writes_number } = before;
  const sendUpdate = before.send_update === 1 || before.state === 'gone';
  const linked = await linkRecord(tx, { ...ref, entity, origin, trust, now, sendUpdate });
  if (linked.kind === 'taken') return undefined;
  await copyOverrides(tx, move);
  await moveTrust(tx, provider, from, to);
  await copyWritten(tx, provider, from, to);
  await moveOverwritten(tx, provider, from, to);
  await moveParent(tx, entity, move);
  for (const queue of [`sync:${provider}`, parentQueue(provider)]) await moveWrites(tx, queue, move);
  if (linked.kind === 'already') return 'merged';
  if (writes_number === 1) await updateLink(tx, ref, { writes_number });
  if (origin === 'number') await updateLink(tx, ref, { mismatch: CAME_BY_MERGE });
  return 'moved';
}

async function contestSurvivor(
  tx: Tx,
  before: Link,
  { provider, from, to, now }: LinkMove,
): Promise<'conflict' | 'later'> {
  const other = await findLink(tx, { provider, recordId: to });
  if (other === undefined || (other.state !== 'active' && other.state !== 'conflict')) {
    await mark(tx, healQueue(provider), [from], now + SOON_MS);
    return 'later';
  }
  const stands = `merged in the CRM into record ${to}, which stands for ${other.entity}`;
  await putInConflict(
    tx,
    before,
    `${stands}: to move this link there, remove the one of ${to} first with cvrsync review keep, then accept this one`,
    now,
  );
  const reason = `record ${from}, which stands for ${before.entity}, was merged into this one in the CRM`;
  await putInConflict(tx, other, reason, now);
  return 'conflict';
}

/** Whether the link is obsolete: it was never made because of a rival, or another record replaced it. */
async function hasNothingToMove(tx: Tx, link: Link): Promise<boolean> {
  if (link.state === 'conflict') return link.desired === 'off';
  if (link.state !== 'gone') return false;
  const successor = await tx
    .selectFrom('link')
    .select('record_id')
    .where('provider', '=', link.provider)
    .where('entity', '=', link.entity)
    .where('state', '=', 'active')
    .executeTakeFirst();
  return successor !== undefined;
}

/** In any state: the order of the CRM's messages must not matter. */
async function putInConflict(tx: Tx, link: Link, reason: string, now: number): Promise<void> {
  const record = { provider: link.provider, recordId: link.record_id };
  const begins = link.state === 'gone';
  if (begins) await mark(tx, MONITORING_QUEUE, [linkKey(link.provider, link.record_id)], now);
  const desired = begins && ({ desired: 'on', observed: 'unknown', observed_error: null } as const);
  await updateLink(tx, record, { state: 'conflict', reason, mismatch: null, updated_at: now, ...desired });
}

/** A removal by a person also applies to the survivor. */
async function copyRemoval(tx: Tx, link: Link, to: string, now: number): Promise<void> {
  if (link.origin !== 'person') return;
  const row = {
    ...link,
    record_id: to,
    observed: 'off',
    observed_at: null,
    synced_seq: 0,
    synced_at: null,
    created_at: now,
    updated_at: now,
  } as const;
  await tx
    .insertInto('link')
    .values(row)
    .onConflict((conflict) => conflict.columns(['provider', 'record_id']).doNothing())
    .execute();
}

/**
 * The survivor gets the overrides of both records, in any order: a CRM may merge two records into a new one. A hold
 * beats a release, the longer of two holds wins, and a single-use release is dropped, because its value has changed.
 */
async function copyOverrides(tx: Tx, { provider, from, to, now }: LinkMove): Promise<void> {
  const overrides: Overrides = (await readOverrides(tx, provider, [from], now)).get(from) ?? new Map();
  if (overrides.get(ALL_PROPERTIES)?.kind === 'hold')
    await tx
      .deleteFrom('override')
      .where('provider', '=', provider)
      .where('record_id', '=', to)
      .where('kind', '=', 'release')
      .execute();
  const own: Overrides = (await readOverrides(tx, provider, [to], now)).get(to) ?? new Map();
  for (const [property, override] of overrides) {
    if (!prevails(property, override, own)) continue;
    const { kind, once, until, reason, createdAt, origin, placedBy: placed_by, placedVia: placed_via } = override;
    const row = { kind, once: once ? 1 : 0, until, reason, created_at: createdAt, origin, placed_by, placed_via };
    await tx
      .insertInto('override')
      .values({ provider, record_id: to, property, ...row })
      .onConflict((conflict) => conflict.columns(['provider', 'record_id', 'property']).doUpdateSet(row))
      .execute();
  }
}

function prevails(property: string, { kind, once, until }: Override, own: Overrides): boolean {
  const theirs = own.get(property);
  if (kind === 'release') return !once && theirs === undefined && !own.has(ALL_PROPERTIES);
  const isLonger = (theirs?.until ?? Number.POSITIVE_INFINITY) < (until ?? Number.POSITIVE_INFINITY);
  return theirs?.kind !== 'hold' || isLonger;
}

interface RecordMove {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Our parent of a merged record is also ours on the survivor, and a merged parent continues as its survivor: the CRM
 * moves both.
 */
async function moveParent(tx: Tx, entity: string, { provider, from, to }: RecordMove): Promise<void> {
  await sql`insert into parent (provider, record_id, owner, parent_id, pending_id)
    select provider, cast(${to} as text), owner, parent_id, pending_id from parent
      where provider = ${provider} and record_id = ${from}
    on conflict (provider, record_id) do update set
      parent_id = coalesce(parent.parent_id, excluded.parent_id),
      pending_id = coalesce(parent.pending_id, excluded.pending_id, excluded.parent_id)`.execute(tx);
  // If the CRM does not move the parent, the merged one stays ours, so the survivor is only pending.
  await tx
    .updateTable('parent')
    .set({ pending_id: to })
    .where('provider', '=', provider)
    .where('owner', '=', entity)
    .where(({ eb, and, or }) =>
      or([eb('pending_id', '=', from), and([eb('parent_id', '=', from), eb('pending_id', 'is', null)])]),
    )
    .execute();
}
