/** After a change of the configuration: records whose mapping changed are decided again. */
import { createHash } from 'node:crypto';
import { differingParts, readDaemons } from '../../runtime/daemons.ts';
import { each } from '../../store/each.ts';
import { writeValue } from '../../store/kv.ts';
import type { Tx } from '../../store/open.ts';
import type { Crm } from '../crm/crm.ts';
import { markAll } from '../links/mark-all.ts';

/** What decides which of a company's facts a record shows, and how. */
export type MappedCrm = Pick<Crm, 'name' | 'mapping' | 'values' | 'hold' | 'persons' | 'currency' | 'dashboard'>;

const keyOf = (name: string): string => `mapping:${name}`;

const digestOf = ({ mapping, values, hold, persons, currency, dashboard }: MappedCrm): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        mapping,
        values,
        hold ?? null,
        ...(persons ? ['persons'] : []),
        ...(currency === undefined ? [] : [{ currency }]),
        ...(dashboard === undefined ? [] : [{ dashboard }]),
      ]),
    )
    .digest('base64url');

/** How long no other daemon may have had another mapping before all records are decided by the one that is left. */
const QUIET_MS = 60_000;
/** Daemons that come and go with another mapping do not have all records marked more often than this. */
const AGAIN_MS = 3_600_000;

/**
 * Marks every active record of a connection that is new, is back, or has another mapping than at the last start: events
 * leave a record alone where its CRM did not map their fields. Returns the queues that now have work. One read a
 * connection where nothing changed.
 *
 * While another daemon of the store has another mapping, nothing is marked: whichever of the two took a record would
 * decide it by its own. Once that is over all records are marked by the mapping that is left. `self` is this daemon among
 * those of the store.
 */
export async function markRemapped(
  tx: Tx,
  crms: readonly MappedCrm[],
  now: number,
  self?: string,
): Promise<readonly string[]> {
  const disputed = self === undefined ? new Set<string>() : await disputedMappings(tx, self, now);
  for (const name of disputed) await writeValue(tx, differsKey(name), '', now);
  const kept = [...crms.map(({ name }) => name), ...disputed].map(keyOf);
  // A connection that is left out misses events: should it come back, it is new.
  await tx.deleteFrom('kv').where('key', 'like', keyOf('%')).where('key', 'not in', each(tx, kept)).execute();
  const queues: string[] = [];
  for (const crm of crms.filter(({ name }) => !disputed.has(name))) {
    const digest = digestOf(crm);
    if (!(await isMarkDue(tx, crm.name, digest, now))) continue;
    const queue = `sync:${crm.name}`;
    if (await markAll(tx, crm.name, queue, now)) queues.push(queue);
    await writeValue(tx, keyOf(crm.name), digest, now);
  }
  return queues;
}

const differsKey = (name: string): string => `mapping-differs:${name}`;

async function isMarkDue(tx: Tx, name: string, digest: string, now: number): Promise<boolean> {
  const rows = await tx
    .selectFrom('kv')
    .selectAll()
    .where('key', 'in', [keyOf(name), differsKey(name)])
    .execute();
  const marked = rows.find(({ key }) => key === keyOf(name));
  const differed = rows.find(({ key }) => key === differsKey(name));
  if (differed === undefined) return marked?.value !== digest;
  if (now - differed.updated_at < QUIET_MS) return false;
  if (marked?.value === digest && now - marked.updated_at < AGAIN_MS) return false;
  // One of several daemons that find this at once gets the row, and marks.
  const gone = await tx.deleteFrom('kv').where('key', '=', differsKey(name)).executeTakeFirst();
  return gone.numDeletedRows > 0n;
}

/** The connections for which another running daemon has another mapping, or only one of the two has a mapping. */
async function disputedMappings(tx: Tx, self: string, now: number): Promise<ReadonlySet<string>> {
  const daemons = await readDaemons(tx, now);
  const mine = daemons.find(({ id }) => id === self)?.digests;
  if (mine === undefined) return new Set();
  const parts = daemons.filter(({ id }) => id !== self).flatMap(({ digests }) => differingParts(mine, digests));
  return new Set(parts.flatMap((part) => MAPPING_PART.exec(part)?.[1] ?? []));
}

/** As `config/digests.ts` names it. */
const MAPPING_PART = /^connector\.providers\.([\w-]+)\.mapping$/;
