/** Applies decisions to the links of a batch of records in one transaction; skips links that changed meanwhile. */

import { mark, type Settlement } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import { engineOf, type Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { later } from '../crm/settle.ts';
import type { HealDecision } from '../follow/decide-link.ts';
import { moveLink } from '../follow/move-link.ts';
import { BEHIND_SAFETY_LIMIT, mayEnd } from '../follow/safety-limit.ts';
import type { Happened } from '../history/history.ts';
import { endLink, isBound, type Link, linkRecord, updateLink } from '../links/links.ts';
import { restoreHolds } from '../links/merged-holds.ts';
import { healQueue, linkKey, MONITORING_QUEUE } from '../names/queues.ts';
import { type HealKind, isKind, type RecordDecision } from './decided.ts';

export interface Effects {
  /** By record id; a missing record is done. */
  readonly settlements: ReadonlyMap<string, Settlement>;
  readonly happened: readonly Happened[];
  readonly ended: readonly RecordDecision[];
  readonly stopped: readonly RecordDecision[];
}

const SOON_MS = 2_000;
/** Wait behind the safety limit, because reading costs calls. A release or a change hint wakes the record earlier. */
const DAY_MS = 86_400_000;

/** Ends first, so that a record can take another one's place; then merges, then links. */
export async function applyDecisions(
  tx: Tx,
  crm: Crm,
  decided: readonly RecordDecision[],
  now: number,
): Promise<Effects> {
  const settlements = new Map<string, Settlement>();
  const happened: Happened[] = [];
  const note = (one: RecordDecision, rule: Happened['rule'], entity: string, detail: string): void => {
    happened.push({ provider: crm.name, id: one.claim.key, entity, rule, detail });
  };
  const batch = { tx, crm, now, settlements, note };
  const acting = decided.filter(({ decision }) => decision.kind !== 'nothing' && decision.kind !== 'held');
  if (acting.length === 0) return { settlements, happened, ended: [], stopped: [] };
  const links = await lock(tx, crm.name, acting, now);
  const isSame = (one: RecordDecision): boolean => isUnchanged(one.link, links.get(one.claim.key));
  for (const one of acting) if (!isSame(one)) settlements.set(one.claim.key, { kind: 'again', at: now, free: true });
  const live = acting.filter(isSame);

  const ending = live.filter(({ decision, link }) => endsLink(decision, link));
  const isLimited = !(await mayEnd(tx, crm.name, ending.length, now));
  for (const one of ending) {
    // Without back-off: otherwise the lane would keep waiting after a release of the safety limit.
    if (isLimited)
      settlements.set(one.claim.key, { kind: 'again', at: now + DAY_MS, error: BEHIND_SAFETY_LIMIT, fresh: true });
    else await applyEnd(batch, one);
  }
  for (const one of live.filter(isKind('mismatch'))) if (!ending.includes(one)) await updateMismatch(batch, one);
  for (const one of live.filter(isKind('move'))) await move(batch, one);
  // A merge in this batch may have moved another link to the record.
  const after = await lockLinks(tx, crm.name, live);
  const isStill = ({ claim }: RecordDecision): boolean => isUnchanged(links.get(claim.key), after.get(claim.key));
  const linking = live.filter(isKind('link'));
  for (const { claim } of linking.filter((one) => !isStill(one)))
    settlements.set(claim.key, { kind: 'again', at: now, free: true });
  await linkAll(batch, linking.filter(isStill));
  return { settlements, happened, ...(isLimited ? { ended: [], stopped: ending } : { ended: ending, stopped: [] }) };
}

interface Batch {
  readonly tx: Tx;
  readonly crm: Crm;
  readonly now: number;
  readonly settlements: Map<string, Settlement>;
  readonly note: (one: RecordDecision, rule: Happened['rule'], entity: string, detail: string) => void;
}

const endsLink = (decision: HealDecision, link: Link | undefined): boolean =>
  decision.kind === 'end' || decision.kind === 'follow' || (decision.kind === 'mismatch' && link?.state === 'active');

async function applyEnd({ tx, crm, now, settlements, note }: Batch, one: RecordDecision): Promise<void> {
  const { decision, claim, link } = one;
  const end = { provider: crm.name, recordId: claim.key, now };
  const entity = link?.entity ?? '';
  if (decision.kind === 'mismatch') {
    const { reason, mismatch } = decision;
    await endLink(tx, { ...end, state: 'conflict', reason, mismatch });
    note(one, 'mismatch', entity, reason);
  } else if (decision.kind === 'end') {
    await endLink(tx, { ...end, state: decision.state, reason: decision.reason, origin: 'number' });
    note(one, decision.state === 'gone' ? 'gone' : 'unlinked', entity, decision.reason);
  } else if (decision.kind === 'follow') {
    await endLink(tx, { ...end, state: 'removed', reason: decision.reason, origin: 'number' });
    note(one, 'unlinked', entity, decision.reason);
    // Upstream must first confirm the end of the old company's monitoring.
    settlements.set(claim.key, { kind: 'again', at: now + SOON_MS, free: true });
  }
}

/** A conflict whose number changed and still contradicts the link. */
async function updateMismatch({ tx, crm, now }: Batch, { claim, decision }: HealKind<'mismatch'>): Promise<void> {
  const record = { provider: crm.name, recordId: claim.key };
  await updateLink(tx, record, { mismatch: decision.mismatch, reason: decision.reason, updated_at: now });
}

async function move({ tx, crm, now, note }: Batch, one: HealKind<'move'>): Promise<void> {
  const { claim, link, decision } = one;
  const { to } = decision;
  // If the link does not follow, the survivor's number may still create one.
  const isFree = link === undefined || (link.state === 'removed' && link.origin === 'number');
  if (crm.autoLink && isFree) await mark(tx, healQueue(crm.name), [to], now);
  const moved = await moveLink(tx, { provider: crm.name, from: claim.key, to, now });
  if (link === undefined || moved === 'later' || link.state === 'merged' || link.state === 'removed') return;
  const ending = moved === 'conflict' ? ', which belongs to another company: a person must decide' : '';
  note(one, 'moved', link.entity, `merged into ${to}${ending}`);
}

async function linkAll(batch: Batch, linking: readonly HealKind<'link'>[]): Promise<void> {
  const { tx, crm, settlements } = batch;
  const holders = await holdersOf(
    tx,
    crm.name,
    linking.map(({ decision }) => decision.entity),
  );
  const claimants = Map.groupBy(linking.filter(takesPlace), ({ decision }) => decision.entity);
  for (const one of linking) {
    const { claim, decision } = one;
    const { entity } = decision;
    const others = [
      ...(holders.get(entity) ?? []),
      ...(claimants.get(entity) ?? []).map((other) => other.claim.key),
    ].filter((id) => id !== claim.key);
    const [rival] = others;
    const isContested = rival !== undefined && takesPlace(one);
    const settlement = isContested ? await contest(batch, one, rival) : await linkOne(batch, one);
    if (settlement !== undefined) settlements.set(claim.key, settlement);
  }
}

/** Whether a number newly links the record to the company; an existing link has its place. */
const takesPlace = ({ decision, link }: HealKind<'link'>): boolean =>
  decision.origin === 'number' && !(link?.state === 'active' || (link?.state === 'conflict' && link.desired === 'on'));

async function holdersOf(
  tx: Tx,
  provider: string,
  entities: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (entities.length === 0) return new Map();
  const rows = await tx
    .selectFrom('link')
    .select(['entity', 'record_id', 'state', 'desired', 'mismatch'])
    .where('provider', '=', provider)
    .where('entity', 'in', each(tx, [...new Set(entities)]))
    .where('state', 'in', ['active', 'conflict'])
    .orderBy('record_id')
    .execute();
  const groups = Map.groupBy(rows, ({ entity }) => entity);
  return new Map([...groups].map(([entity, group]) => [entity, group.map(({ record_id }) => record_id)]));
}

/** Retries later if upstream still monitors another company for the record. */
async function linkOne({ tx, crm, now, note }: Batch, one: HealKind<'link'>): Promise<Settlement | undefined> {
  const { claim, link, decision } = one;
  const { entity, origin, mismatch = null } = decision;
  if ((await readErasures(tx)).has(entity)) return undefined;
  const ref = { provider: crm.name, recordId: claim.key };
  const trust = link?.entity === entity ? link.trust : 'crm';
  // Without monitoring, cvrsync received no events.
  const sendUpdate = link === undefined || link.desired === 'off' || link.send_update === 1;
  const linked = await linkRecord(tx, { ...ref, entity, origin, trust, sendUpdate, now });
  if (linked.kind === 'taken')
    return later(claim, now, `waits until ${linked.entity} is no longer monitored for it`, { atLeastMs: SOON_MS });
  if (link?.mismatch != null) await updateLink(tx, ref, { mismatch });
  const detail = link === undefined ? 'by its CVR number' : 'again, as the record says';
  if (linked.kind === 'linked') note(one, 'linked', entity, detail);
  return undefined;
}

/**
 * Another record is linked to the company already. An operator decides, because a guess could write to the wrong
 * record.
 */
async function contest(
  { tx, crm, now, note }: Batch,
  one: HealKind<'link'>,
  rival: string,
): Promise<Settlement | undefined> {
  const { claim, link, decision } = one;
  const { entity } = decision;
  if ((await readErasures(tx)).has(entity)) return undefined;
  if (link !== undefined && link.entity !== entity && (await isBound(tx, link)))
    return later(claim, now, `waits until ${link.entity} is no longer monitored for it`, { atLeastMs: SOON_MS });
  const reason = `holds the number of ${entity}, which record ${rival} stands for too`;
  if (link?.state === 'conflict' && link.entity === entity && link.reason === reason) return undefined;
  const fresh = { entity, state: 'conflict', reason, mismatch: entity, desired: 'off', origin: 'number' } as const;
  await tx
    .insertInto('link')
    .values({
      ...fresh,
      provider: crm.name,
      record_id: claim.key,
      observed: 'off',
      observed_at: null,
      observed_error: null,
      send_update: 0,
      synced_seq: 0,
      synced_at: null,
      trust: 'crm',
      writes_number: 0,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['provider', 'record_id']).doUpdateSet({ ...fresh, send_update: 0, updated_at: now }),
    )
    .execute();
  await restoreHolds(tx, { provider: crm.name, recordId: claim.key });
  note(one, 'mismatch', entity, reason);
  return undefined;
}

/** Locks the lanes and links of the records until the transaction ends; returns the links. */
async function lock(
  tx: Tx,
  provider: string,
  acting: readonly RecordDecision[],
  now: number,
): Promise<ReadonlyMap<string, Link>> {
  const linking = acting.filter(isKind('link'));
  // Two processes that change which records a company has take turns.
  const entities = acting.flatMap(({ decision, link }) => [
    ...('entity' in decision ? [decision.entity] : []),
    ...(link === undefined ? [] : [link.entity]),
  ]);
  if (entities.length > 0) await mark(tx, 'apply', entities, now);
  const begins = new Set<RecordDecision>(linking);
  const keysOf = (some: readonly RecordDecision[]): string[] => some.map(({ claim }) => linkKey(provider, claim.key));
  const ending = keysOf(acting.filter((one) => one.link !== undefined && !begins.has(one)));
  if (ending.length > 0) await mark(tx, MONITORING_QUEUE, ending, now);
  // Not marked: a lane there would mean that upstream still monitors the former company.
  if (engineOf(tx) === 'postgres' && linking.length > 0)
    await tx
      .selectFrom('lane')
      .select('key')
      .where('queue', '=', MONITORING_QUEUE)
      .where('key', 'in', each(tx, keysOf(linking)))
      .orderBy('key')
      .forUpdate()
      .execute();
  return lockLinks(tx, provider, acting);
}

async function lockLinks(
  tx: Tx,
  provider: string,
  records: readonly RecordDecision[],
): Promise<ReadonlyMap<string, Link>> {
  const ids = records.map(({ claim }) => claim.key);
  const links = await tx
    .selectFrom('link')
    .selectAll()
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, ids))
    .orderBy('record_id')
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();
  return new Map(links.map((link) => [link.record_id, link]));
}

/** Whether the link is unchanged: a person's change in between takes precedence. */
function isUnchanged(then: Link | undefined, now: Link | undefined): boolean {
  if (then === undefined || now === undefined) return then === now;
  return (
    then.entity === now.entity &&
    then.state === now.state &&
    then.origin === now.origin &&
    then.mismatch === now.mismatch &&
    then.desired === now.desired
  );
}
