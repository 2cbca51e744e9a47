/** Who is in the set-up: one session at a time, so that two people do not answer over each other. */
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

/** Whoever was not seen for so long has left, in ms. */
const LEFT_MS = 15 * 60_000;
/** A look is noted so often at most, in ms. */
const NOTE_MS = 10_000;

/** The holder in the store; undefined if nobody is there any more. */
async function readHolder(db: Db, now: number): Promise<SetUpHolder | undefined> {
  const kept = await readValue(db, HOLDER_KEY);
  const holder: SetUpHolder | undefined = kept === undefined ? undefined : JSON.parse(kept);
  return holder !== undefined && now - holder.seenAt < LEFT_MS ? holder : undefined;
}

/** Notes that a session is in the set-up; somebody else's place stays theirs. The one who is there. */
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

/** Puts a session in the place of whoever is there. */
export const takeOver = (tx: Tx, me: Omit<SetUpHolder, 'since' | 'seenAt'>, now: number): Promise<SetUpHolder> =>
  put(tx, { ...me, since: now, seenAt: now }, now);

async function put(tx: Tx, holder: SetUpHolder, now: number): Promise<SetUpHolder> {
  await writeValue(tx, HOLDER_KEY, JSON.stringify(holder), now);
  return holder;
}
