/** Samples the store's size once a day for a month, to show its growth. */
import { readValue, writeValue } from '../store/kv.ts';
import type { Db, Store } from '../store/store.ts';

const KEY = 'store-size';
const DAY_MS = 86_400_000;
const KEPT = 30;

interface SizeSample {
  readonly at: number;
  readonly bytes: number;
}

export interface StoreGrowth {
  readonly since: number;
  readonly bytes: number;
}

export async function sampleSize(store: Store, now: number): Promise<void> {
  const samples = await readSamples(store.db);
  if (now - (samples.at(-1)?.at ?? 0) < DAY_MS) return;
  const next = [...samples, { at: now, bytes: await store.sizeBytes() }].slice(-KEPT);
  await store.write((tx) => writeValue(tx, KEY, JSON.stringify(next), now));
}

/** Growth since the oldest sample; undefined until that is a day old. */
export async function readGrowth(db: Db, bytes: number, now: number): Promise<StoreGrowth | undefined> {
  const [oldest] = await readSamples(db);
  if (oldest === undefined || now - oldest.at < DAY_MS) return undefined;
  return { since: oldest.at, bytes: bytes - oldest.bytes };
}

// Only this file writes it.
const readSamples = async (db: Db): Promise<readonly SizeSample[]> =>
  JSON.parse((await readValue(db, KEY)) ?? '[]') as readonly SizeSample[];
