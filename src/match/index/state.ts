/** The source of the company index, and the progress of building it. */
import { isJsonObject } from '../../protocol/text/json.ts';
import { countRows } from '../../store/count.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';

/** Increase it when the keys change: an index with older keys finds nothing and is rebuilt. */
const INDEX_FORM = 2;
const KEY = 'match-index';

const PHASES = ['clearing', 'building', 'sorting', 'ready'] as const;

/** `building`: the index lacks entries of its source; `sorting`: it has all entries but not all keys. */
export interface IndexState {
  readonly phase: (typeof PHASES)[number];
  /** `register` for the service's snapshots; else a fingerprint of the file. */
  readonly source: string;
  /** The last line of the file or entity of the register that was read. */
  readonly position: string;
  /** Companies and production units read so far. */
  readonly entries: number;
  /** When it was last filled, ms since 1970. */
  readonly at: number;
  /** It held far fewer companies than the register when it was built. */
  readonly isPartial: boolean;
}

/** Undefined if no index was built, or only by another version. */
export const readIndexState = async (db: Db): Promise<IndexState | undefined> => stateOf(await readValue(db, KEY));

/** Locks the state until the transaction ends, so that keys staged meanwhile are sorted too. */
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

/** The register has about 900,000 active companies of more than two million: a smaller index lacks some. */
const PARTIAL_BELOW = 500_000;

/** Whether the index holds far fewer companies than the register. */
export const holdsPart = async (db: Db): Promise<boolean> =>
  (await countRows(db, db.selectFrom('match_entry').select('number').limit(PARTIAL_BELOW))) < PARTIAL_BELOW;

export const saveIndexState = (tx: Tx, state: IndexState): Promise<void> =>
  writeValue(tx, KEY, JSON.stringify({ form: INDEX_FORM, ...state }), state.at);
