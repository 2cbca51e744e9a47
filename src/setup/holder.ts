/** Lets one session at a time into the set-up, so that two people do not overwrite each other's answers. */
import { readValue, writeValue } from '../store/kv.ts';
import type { Db, Tx } from '../store/store.ts';
import { HOLDER_KEY } from './draft.ts';

export interface SetUpHolder {
  /** The digest of the session's id. */
  readonly session: string;
  readonly name: string;
  readonly agent: string;
  readonly since: number;
  readonly seenAt: number;
}

/** Somebody who was not seen for this long has left. */
const LEFT_MS = 15 * 60_000;
/** How often a visit is noted at most. */
const NOTE_MS = 10_000;

/** Undefined if nobody is in the set-up. */
async function readHolder(db: Db, now: number): Promise<SetUpHolder | undefined> {
  const kept = await readValue(db, HOLDER_KEY);
  const holder: SetUpHolder | undefined = kept === undefined ? undefined : JSON.parse(kept);
  return holder !== undefined && now - holder.seenAt < LEFT_MS ? holder : undefined;
}

/** Records that a session is in the set-up, unless somebody else is. Returns the person who is. */
export async function enterSetUp(
  store: { readonly db: Db; write<T>(work: (tx: Tx) => Promise<T>): Promise<T> },
  me: Omit<SetUpHolder, 'since' | 'seenAt'>,
  now: number,
): Promise<SetUpHolder> {
  const known = await readHolder(store.db, now);
  if (known !== undefined && known.session !== me.session) return known;
  if (known !== undefined && known.name === me.name && now - known.seenAt < NOTE_MS) return known;
  return store.write(async (tx) => {
    const there = await readHolder(tx, now);
    if (there !== undefined && there.session !== me.session) return there;
    return put(tx, { ...me, since: there?.since ?? now, seenAt: now }, now);
  });
}

/** Replaces the person in the set-up. */
export const takeOver = (tx: Tx, me: Omit<SetUpHolder, 'since' | 'seenAt'>, now: number): Promise<SetUpHolder> =>
  put(tx, { ...me, since: now, seenAt: now }, now);

async function put(tx: Tx, holder: SetUpHolder, now: number): Promise<SetUpHolder> {
  await writeValue(tx, HOLDER_KEY, JSON.stringify(holder), now);
  return holder;
}
