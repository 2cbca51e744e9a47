/** The rows of the emulated Datafordeler, and the feed of their changes. */
import { randomFrom } from '../../../protocol/sample/random.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';

export type DafTableRow = JsonObject;
export type UnitTables = Readonly<Partial<Record<string, readonly DafTableRow[]>>>;

export interface FeedEvent {
  readonly eventid: number;
  readonly entityname: string;
  readonly eventaction: 'i' | 'd';
  readonly fromfailedimport: boolean;
  readonly object_id: string;
  readonly object_datafordelerRowId: string;
  readonly datafordelerOpdateringstid: string;
  readonly datafordelerRegisterImportSequenceNumber: number;
}

export interface DafTables {
  /** Registers a unit again: deletes every old row, and inserts every new one. */
  put(id: string, rows: UnitTables, at: number): void;
  remove(id: string, at: number): void;
  rowsOf(entity: string): Iterable<DafTableRow>;
  unit(entity: string, id: string): readonly DafTableRow[];
  readonly events: readonly FeedEvent[];
  readonly imports: number;
}

interface Stored {
  readonly id: string;
  readonly rows: ReadonlyMap<string, readonly DafTableRow[]>;
}

/** To the microsecond, as in Datafordeler. */
export const dafTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

/** `e_mailadresse` in the schema is `e-mailadresse` in the feed. */
const feedName = (entity: string): string => entity.replace('_', '-');

export function createTables(seed: number): DafTables {
  const random = randomFrom(seed);
  const units = new Map<string, Stored>();
  const events: FeedEvent[] = [];
  let imports = 349_503;
  const hex = (digits: number): string => Array.from({ length: digits }, () => random.int(0, 15).toString(16)).join('');
  const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;

  const tell = (
    eventaction: 'i' | 'd',
    [entity, id]: readonly [string, string],
    row: DafTableRow,
    at: number,
  ): void => {
    events.push({
      eventid: events.length + 1,
      entityname: feedName(entity),
      eventaction,
      fromfailedimport: false,
      object_id: id,
      object_datafordelerRowId: String(row['datafordelerRowId']),
      datafordelerOpdateringstid: dafTime(at),
      datafordelerRegisterImportSequenceNumber: Number(row['datafordelerRegisterImportSequenceNumber']),
    });
  };

  function remove(id: string, at: number): void {
    for (const [entity, rows] of units.get(id)?.rows ?? []) for (const row of rows) tell('d', [entity, id], row, at);
    units.delete(id);
  }

  return {
    put(id, given, at) {
      remove(id, at);
      imports++;
      const rows = new Map<string, readonly DafTableRow[]>();
      for (const [entity, list = []] of Object.entries(given)) {
        const inserted = list.filter(isJsonObject).map((row) => ({
          ...row,
          datafordelerRowId: uuid(),
          datafordelerRegisterImportSequenceNumber: imports,
          datafordelerOpdateringstid: dafTime(at),
        }));
        for (const row of inserted) tell('i', [entity, id], row, at);
        rows.set(entity, inserted);
      }
      units.set(id, { id, rows });
    },
    remove,
    *rowsOf(entity) {
      for (const { rows } of units.values()) yield* rows.get(entity) ?? [];
    },
    unit: (entity, id) => units.get(id)?.rows.get(entity) ?? [],
    events,
    get imports() {
      return imports;
    },
  };
}
