/** Holds what a batch of verdicts is about to change: lanes before links, as everywhere. */
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { engineOf, type Tx } from '../../store/store.ts';
import type { Link } from '../links/links.ts';
import { linkKey, MONITORING_QUEUE } from '../names/queues.ts';
import { isKind, type Judged } from './judged.ts';

/** Locks the lanes and the links of the records, and returns the links as nobody else changes them before we are done. */
export async function lock(
  tx: Tx,
  provider: string,
  acting: readonly Judged[],
  now: number,
): Promise<ReadonlyMap<string, Link>> {
  const linking = acting.filter(isKind('link'));
  // Two records that are to stand for one company, in whichever process, come one after the other.
  const entities = linking.map(({ verdict }) => verdict.entity);
  if (entities.length > 0) await mark(tx, 'apply', entities, now);
  const begins = new Set<Judged>(linking);
  const keysOf = (some: readonly Judged[]): string[] => some.map(({ claim }) => linkKey(provider, claim.key));
  const ending = keysOf(acting.filter((one) => one.link !== undefined && !begins.has(one)));
  if (ending.length > 0) await mark(tx, MONITORING_QUEUE, ending, now);
  // Not marked: a lane there would say that upstream has not let go of an earlier company yet.
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

/** The links of the records, held until the transaction ends. */
export async function lockLinks(
  tx: Tx,
  provider: string,
  records: readonly Judged[],
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

/** Whether nobody changed the link in between: a person's word of that moment counts more than ours. */
export function isUnchanged(then: Link | undefined, now: Link | undefined): boolean {
  if (then === undefined || now === undefined) return then === now;
  return (
    then.entity === now.entity &&
    then.state === now.state &&
    then.origin === now.origin &&
    then.mismatch === now.mismatch &&
    then.desired === now.desired
  );
}
