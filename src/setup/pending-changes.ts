/** Unsaved changes of the configuration file by session, made under Settings, without secrets. */
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { ConfigEdit } from '../config/edit.ts';
import { readValue, writeValue } from '../store/kv.ts';
import type { Db, Tx } from '../store/store.ts';

const pending = Type.Object({
  /** The digest of the file that they began with. */
  seen: Type.String(),
  edits: Type.Array(Type.Object({ path: Type.Array(Type.String()), value: Type.Optional(Type.Unknown()) })),
});

export interface PendingChanges {
  readonly seen: string;
  readonly edits: readonly ConfigEdit[];
}

const PREFIX = 'settings:changes:';
const keyOf = (session: string): string => `${PREFIX}${session}`;
/** Unsaved changes older than this are deleted. */
const KEPT_MS = 7 * 86_400_000;

export async function readPending(db: Db, session: string): Promise<PendingChanges | undefined> {
  const kept = await readValue(db, keyOf(session));
  const value: unknown = kept === undefined ? undefined : JSON.parse(kept);
  if (!Value.Check(pending, value)) return undefined;
  // A removal has no value.
  return { seen: value.seen, edits: value.edits.map((each) => ({ path: each.path, value: each.value })) };
}

/** Replaces the changes of a session; deletes them if none are left. */
export async function writePending(
  tx: Tx,
  session: string,
  { seen, edits }: PendingChanges,
  now: number,
): Promise<void> {
  const isOld = tx
    .deleteFrom('kv')
    .where('key', '>=', PREFIX)
    .where('key', '<', `${PREFIX}\u{10FFFF}`)
    .where('updated_at', '<', now - KEPT_MS);
  await isOld.execute();
  if (edits.length === 0) await forgetPending(tx, session);
  else await writeValue(tx, keyOf(session), JSON.stringify({ seen, edits }), now);
}

export const forgetPending = async (tx: Tx, session: string): Promise<void> =>
  void (await tx.deleteFrom('kv').where('key', '=', keyOf(session)).execute());
