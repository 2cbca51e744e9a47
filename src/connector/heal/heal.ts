/** Heals links: reads their records in the CRM, decides, and makes the links follow. */
import { ProviderError, type Read } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { type Claim, held, type Settlement, settleAll, wake } from '../../runtime/lanes/lanes.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { holdPollMs } from '../crm/hold.ts';
import { CONTESTED, later, settleFault, UNMENTIONED } from '../crm/settle.ts';
import { type Follow, followOf, linksOf } from '../follow/change-hints.ts';
import { decideLink } from '../follow/decide-link.ts';
import { readMatch } from '../follow/match-property.ts';
import { releaseSafetyLimit, SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';
import { writeHistory } from '../history/history.ts';
import type { Link } from '../links/links.ts';
import { continueMarking } from '../links/mark-all.ts';
import { noteQueue, parentQueue } from '../names/queues.ts';
import { readChildren } from '../parents/mark.ts';
import type { RecordDecision } from './decided.ts';
import { applyDecisions } from './effects.ts';

export interface HealDeps {
  readonly store: Store;
  readonly metrics: Pick<Metrics, 'linkChanges' | 'linksEnded' | 'leaseLost'>;
  readonly now: () => number;
}

/** Wait of other work on a record after its link is decided: a CRM that contradicts itself then costs few calls. */
const SOON_MS = 2_000;

/**
 * Makes links follow their records: deleted, merged, restored, and with numbers added, changed or removed. One read;
 * all effects and settlements are one transaction, for links unchanged since the read.
 */
export async function healRecords(
  deps: HealDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const { store, now } = deps;
  const safetyLimit = claims.find(({ key }) => key === SAFETY_LIMIT_KEY);
  if (safetyLimit !== undefined) {
    await store.write((tx) => releaseSafetyLimit(tx, crm.name, safetyLimit, now()));
    await continueMarking(store, now, signal);
  }
  const records = claims.filter((claim) => claim !== safetyLimit);
  if (records.length === 0) return;
  let decided: readonly RecordDecision[];
  try {
    decided = await decideAll(deps, crm, records, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError && error.fault === 'refused') crm.forgetSchema();
    const fault = await settleFault(error, crm.rateLimiter, now());
    await store.write((tx) =>
      settleAll(
        tx,
        records.map((claim) => [claim, fault.of(claim)]),
      ),
    );
    return;
  }
  await record(deps, crm, decided);
}

async function decideAll(
  { store, now }: HealDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<readonly RecordDecision[]> {
  const readFollow = async (): Promise<Follow> =>
    followOf(crm, await readMatch(store, crm, await crm.schema(signal), now()), now());
  const follow = await readFollow();
  const links = await linksOf(
    store.db,
    crm.name,
    claims.map(({ key }) => key),
  );
  const ids = claims.map(({ key }) => key).filter((id) => crm.autoLink || links.has(id));
  const reads = ids.length === 0 ? [] : await crm.connection.read(ids, follow.properties, signal);
  const readOf = new Map(ids.map((id, index): [string, Read | undefined] => [id, reads[index]]));
  const survivors = [...new Set(reads.flatMap((read) => (read.kind === 'moved' ? [read.to] : [])))];
  const unseen = survivors.filter((id) => !readOf.has(id));
  const seen = unseen.length === 0 ? [] : await crm.connection.read(unseen, follow.properties, signal);
  const survivorOf = new Map([...readOf, ...unseen.map((id, index) => [id, seen[index]] as const)]);
  const decideBy = (rule: Follow): readonly RecordDecision[] =>
    claims.map((claim) => decideOne(claim, links.get(claim.key), { readOf, survivorOf }, rule));
  const decided = decideBy(follow);
  if (!decided.some(({ decision }) => decision.kind === 'end' && decision.state === 'removed')) return decided;
  // A property removed since the schema was read looks blank in every record.
  crm.forgetSchema();
  return decideBy(await readFollow());
}

function decideOne(claim: Claim, link: Link | undefined, { readOf, survivorOf }: Reads, rule: Follow): RecordDecision {
  const base = { claim, link };
  if (!readOf.has(claim.key)) return { ...base, decision: { kind: 'nothing' } };
  const read = readOf.get(claim.key);
  const unread = unreadBecause(read) ?? (read?.kind === 'moved' ? unreadBecause(survivorOf.get(read.to)) : undefined);
  if (read === undefined || unread !== undefined)
    return { ...base, decision: { kind: 'nothing' }, unread: unread ?? UNMENTIONED };
  const isLost = read.kind === 'moved' && survivorOf.get(read.to)?.kind === 'gone';
  if (!isLost) return { ...base, decision: decideLink(link, read, rule) };
  const decision = decideLink(link, { kind: 'gone', id: read.id }, rule);
  const reason = `merged into ${read.to}, which the CRM does not hold`;
  return { ...base, decision: decision.kind === 'end' ? { ...decision, reason } : decision };
}

/** The reads of the records and of merge survivors: no link follows to an unread record. */
interface Reads {
  readonly readOf: ReadonlyMap<string, Read | undefined>;
  readonly survivorOf: ReadonlyMap<string, Read | undefined>;
}

function unreadBecause(read: Read | undefined): string | undefined {
  if (read === undefined) return UNMENTIONED;
  return read.kind === 'retry' ? read.reason : undefined;
}

async function record({ store, metrics, now }: HealDeps, crm: Crm, decided: readonly RecordDecision[]): Promise<void> {
  const at = now();
  const { ours, ended, stopped } = await store.write(async (tx) => {
    const ours = await held(
      tx,
      decided.map(({ claim }) => claim),
    );
    const live = decided.filter(({ claim }) => ours.has(claim.key));
    const { settlements, happened, ended, stopped } = await applyDecisions(tx, crm, live, at);
    await writeHistory(tx, [], happened, at);
    const settled = live.map(
      (each) => [each.claim, settlements.get(each.claim.key) ?? settlementOf(crm, each, at)] as const,
    );
    await settleAll(tx, settled);
    await wakeWaiting(
      tx,
      crm.name,
      live.filter((_, index) => settled[index]?.[1].kind === 'done'),
      at,
    );
    return { ours, ended, stopped };
  });
  metrics.leaseLost.inc(decided.length - ours.size);
  metrics.linksEnded.inc({ provider: crm.name }, ended.length);
  for (const one of decided)
    if (!stopped.includes(one)) metrics.linkChanges.inc({ provider: crm.name, decision: one.decision.kind });
}

/** Wakes what waited for these decisions: other work on the records, and the parents of records below them. */
async function wakeWaiting(tx: Tx, provider: string, decided: readonly RecordDecision[], at: number): Promise<void> {
  if (decided.length === 0) return;
  const ids = decided.map(({ claim }) => claim.key);
  const owners = new Set(decided.flatMap(({ link }) => link?.entity ?? []));
  const children = (await readChildren(tx, new Set([provider]), owners)).map((child) => child.record_id);
  const soon = { dueAt: at + SOON_MS, because: CONTESTED };
  await wake(tx, [`sync:${provider}`, noteQueue(provider)], ids, soon);
  await wake(tx, [parentQueue(provider)], [...ids, ...children], soon);
}

function settlementOf(crm: Crm, { claim, decision, link, unread }: RecordDecision, now: number): Settlement {
  if (unread !== undefined) return later(claim, now, unread);
  if (decision.kind === 'held' && link !== undefined) return { kind: 'again', at: now + holdPollMs(crm), fresh: true };
  return { kind: 'done' };
}
