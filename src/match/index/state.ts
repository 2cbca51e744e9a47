/** What the company index is made of, and how far its making has come. */
import { isJsonObject } from '../../protocol/text/json.ts';
import { countRows } from '../../store/count.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';

/** Changes with the keys: an index of another form finds nothing, and is made anew. */
const INDEX_FORM = 2;
const KEY = 'match-index';

const PHASES = ['clearing', 'building', 'sorting', 'ready'] as const;

/**
 * An index exists from the first entry on. While it is `building` it does not hold all of its source yet; while it is
 * `sorting`, all entries but not all of their keys.
 */
export interface IndexState {
  readonly phase: (typeof PHASES)[number];
  /** `register` for the service's snapshots, else what tells a file from another one. */
  readonly source: string;
  /** How far the source was read: a line of a file, an entity of the register. */
  readonly position: string;
  /** How many companies and production units were read of it. */
  readonly entries: number;
  /** When it was last filled from its source, ms since 1970. */
  readonly at: number;
  /** Whether it held far fewer companies than the register when it was made. */
  readonly isPartial: boolean;
}

/** Undefined where no index was ever made, or one of another version of cvrsync. */
export const readIndexState = async (db: Db): Promise<IndexState | undefined> => stateOf(await readValue(db, KEY));

/** The same, locked until the transaction ends: what is staged meanwhile cannot miss the end of the sorting. */
export async function lockIndexState(tx: Tx): Promise<IndexState | undefined> {
  const row = await tx
    .selectFrom('kv')
    .select('value')
    .where('key', '=', KEY)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  return stateOf(row?.value);
}

function stateOf(text: string | undefined): IndexState | undefined {
  const json: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isJsonObject(json) || json['form'] !== INDEX_FORM) return undefined;
  const { source, position, entries, at } = json;
  const phase = PHASES.find((each) => each === json['phase']);
  if (phase === undefined) return undefined;
  const isPartial = json['isPartial'] === true;
  return {
    phase,
    source: String(source),
    position: String(position),
    entries: Number(entries),
    at: Number(at),
    isPartial,
  };
}

/** Of the register's more than two million companies, about 900,000 are active: an index of fewer lacks some. */
const PARTIAL_BELOW = 500_000;

/** Whether the index holds far fewer companies than the register. */
export const holdsPart = async (db: Db): Promise<boolean> =>
  (await countRows(db, db.selectFrom('match_entry').select('number').limit(PARTIAL_BELOW))) < PARTIAL_BELOW;

export const saveIndexState = (tx: Tx, state: IndexState): Promise<void> =>
  writeValue(tx, KEY, JSON.stringify({ form: INDEX_FORM, ...state }), state.at);
