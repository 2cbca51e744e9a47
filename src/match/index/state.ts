/** What the company index is made of, and how far its making has come. */
import { isJsonObject } from '../../protocol/text/json.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';

/** Changes with the keys: an index of another form finds nothing, and is made anew. */
const INDEX_FORM = 1;
const KEY = 'match-index';

/** An index exists from the first entry on; while it is `building` it does not hold all of its source yet. */
export interface IndexState {
  readonly phase: 'clearing' | 'building' | 'ready';
  /** `register` for the service's snapshots, else what tells a file from another one. */
  readonly source: string;
  /** How far the source was read: a line of a file, an entity of the register. */
  readonly position: string;
  /** How many companies and production units were read of it. */
  readonly entries: number;
  /** When it was last filled from its source, ms since 1970. */
  readonly at: number;
}

/** Undefined where no index was ever made, or one of another version of cvrsync. */
export async function readIndexState(db: Db): Promise<IndexState | undefined> {
  const text = await readValue(db, KEY);
  const json: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isJsonObject(json) || json['form'] !== INDEX_FORM) return undefined;
  const { phase, source, position, entries, at } = json;
  if (phase !== 'clearing' && phase !== 'building' && phase !== 'ready') return undefined;
  return { phase, source: String(source), position: String(position), entries: Number(entries), at: Number(at) };
}

export const saveIndexState = (tx: Tx, state: IndexState): Promise<void> =>
  writeValue(tx, KEY, JSON.stringify({ form: INDEX_FORM, ...state }), state.at);
