/** Records in one call to a connection: fewer than its limits if that proved too many. */
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import type { SmallerReason } from './write.ts';

const HOUR_MS = 3_600_000;
/** Time before a larger size is tried again. An org's code seldom changes. */
const KEPT_MS: Readonly<Record<SmallerReason, number>> = { refused: 24 * HOUR_MS, slow: HOUR_MS / 12 };
const REASONS: readonly SmallerReason[] = ['refused', 'slow'];

const batchSizeKey = (provider: string, reason: SmallerReason): string => `batch/${reason}:${provider}`;

export async function readBatchSize(
  db: Db,
  { name, limits }: Pick<Crm, 'name' | 'limits'>,
  now: number,
): Promise<number> {
  const known = await Promise.all(REASONS.map((reason) => readValue(db, batchSizeKey(name, reason))));
  const sizes = known.flatMap((text) => {
    const [size = 0, until = 0] = (text ?? '').split(' ').map(Number);
    return size >= 1 && until > now ? [size] : [];
  });
  return Math.min(limits.batch.read, limits.batch.update, ...sizes);
}

/** Limits the size for some time, in every process. */
export const rememberBatchSize = (
  store: Store,
  provider: string,
  { size, reason, now }: { readonly size: number; readonly reason: SmallerReason; readonly now: number },
): Promise<void> =>
  store.write((tx) =>
    writeValue(tx, batchSizeKey(provider, reason), `${size} ${Math.floor(now + KEPT_MS[reason])}`, now),
  );
