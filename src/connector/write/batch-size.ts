/** Records in one call to a connection: fewer than its limits if that proved too many. */
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import type { SmallerReason } from './write.ts';

/** Time before a size that the CRM refused is tried again: an org's code seldom changes. */
const REFUSED_MS = 24 * 3_600_000;
/**
 * Time before a size that was too slow is tried again, at first: the cause may be this machine, busy for a moment. Twice
 * as long each time that it is too slow again soon after, so that a CRM that stays slow costs few reads.
 */
const SLOW_MS = 1_000;
const MOST_SLOW_MS = 5 * 60_000;
const SOON_MS = 60_000;
const REASONS: readonly SmallerReason[] = ['refused', 'slow'];

const batchSizeKey = (provider: string, reason: SmallerReason): string => `batch/${reason}:${provider}`;

export async function readBatchSize(
  db: Db,
  { name, limits }: Pick<Crm, 'name' | 'limits'>,
  now: number,
): Promise<number> {
  const known = await Promise.all(REASONS.map((reason) => readKept(db, batchSizeKey(name, reason))));
  const sizes = known.flatMap(({ size, until }) => (size >= 1 && until > now ? [size] : []));
  return Math.min(limits.batch.read, limits.batch.update, ...sizes);
}

interface Kept {
  readonly size: number;
  readonly until: number;
  readonly keptMs: number;
}

async function readKept(db: Db, key: string): Promise<Kept> {
  const [size = 0, until = 0, keptMs = 0] = ((await readValue(db, key)) ?? '').split(' ').map(Number);
  return { size, until, keptMs };
}

/** Limits the size for some time, in every process. */
export const rememberBatchSize = (
  store: Store,
  provider: string,
  { size, reason, now }: { readonly size: number; readonly reason: SmallerReason; readonly now: number },
): Promise<void> =>
  store.write(async (tx) => {
    const key = batchSizeKey(provider, reason);
    const keptMs = reason === 'refused' ? REFUSED_MS : slowMs(await readKept(tx, key), now);
    await writeValue(tx, key, `${size} ${Math.floor(now + keptMs)} ${keptMs}`, now);
  });

/** Several calls that began with the same size are one proof that it is too slow. */
function slowMs({ until, keptMs }: Kept, now: number): number {
  if (keptMs === 0 || now > until + SOON_MS) return SLOW_MS;
  return now < until ? keptMs : Math.min(2 * keptMs, MOST_SLOW_MS);
}
