/**
 * Sorts the rows of the files by unit, on disk. All rows of a unit are in the same one of 512 parts, and a part is
 * small enough to read at once. Linear time, and the memory of one part.
 */
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import type { DafEntity, UnitRows } from '../rows.ts';
import type { RoutedRow, RowRole } from './routes.ts';

export const PARTS = 512;
/** Bytes to collect before writing to a part. */
const BUFFER = 16 << 10;

export interface Scratch {
  readonly folder: string;
  /** The entities that are completely sorted. */
  sorted(): Promise<ReadonlySet<DafEntity>>;
  /** Writes all rows of one entity, and replaces what an interrupted run left. */
  sort(entity: DafEntity, rows: AsyncIterable<readonly RoutedRow[]>): Promise<void>;
  /** The rows of a sorted entity, in any order. */
  rowsOf(entity: DafEntity): AsyncIterable<readonly RoutedRow[]>;
  /** The units of a part with their rows, by number. */
  unitsIn(part: number): Promise<readonly SortedUnit[]>;
  remove(): Promise<void>;
}

export interface SortedUnit {
  readonly id: string;
  rows(): UnitRows;
}

const partOf = (id: string): number => {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number % PARTS : 0;
};

const lineOf = ({ unit, role, row }: RoutedRow): string => `${unit}\t${role}\t${JSON.stringify(row)}\n`;

export function openScratch(folder: string): Scratch {
  const placeOf = (entity: string, part: number): string => join(folder, entity, `${part}.tsv`);
  const doneMark = (entity: string): string => join(folder, entity, 'sorted');
  const files = new Map<string, ReadonlySet<string>>();
  let known: Promise<ReadonlySet<DafEntity>> | undefined;

  /** The file of a part; most parts of a small register have none. */
  async function bytesOf(entity: string, part: number): Promise<Buffer> {
    const names = files.get(entity) ?? new Set(await readdir(join(folder, entity)).catch(() => []));
    files.set(entity, names);
    return names.has(`${part}.tsv`) ? readFile(placeOf(entity, part)) : NOTHING;
  }

  async function sorted(): Promise<ReadonlySet<DafEntity>> {
    const done = new Set<DafEntity>();
    for (const entity of await readdir(folder).catch(() => [])) {
      const isDone = await readFile(doneMark(entity), 'utf8').catch(() => '');
      // Only this file names the folders.
      if (isDone !== '') done.add(entity as DafEntity);
    }
    return done;
  }

  return {
    folder,
    sorted,
    async sort(entity, batches) {
      files.delete(entity);
      known = undefined;
      await rm(join(folder, entity), { recursive: true, force: true });
      await mkdir(join(folder, entity), { recursive: true });
      const bytes = Buffer.allocUnsafe(PARTS * BUFFER);
      const parts = new Map<number, PartFile>();
      for await (const batch of batches) {
        for (const row of batch) {
          const number = partOf(row.unit);
          const part = parts.get(number) ?? openPart(placeOf(entity, number), bytes, number * BUFFER);
          parts.set(number, part);
          await addLine(part, lineOf(row));
        }
      }
      for (const part of parts.values()) await flush(part, true);
      await writeFile(`${doneMark(entity)}.new`, '1', { flush: true });
      await rename(`${doneMark(entity)}.new`, doneMark(entity));
    },
    async *rowsOf(entity) {
      for (let part = 0; part < PARTS; part++) {
        const bytes = await bytesOf(entity, part);
        yield [...linesIn(bytes)].map(([unit, from, to]) => ({ unit, ...lineAt(bytes, from, to) }));
      }
    },
    async unitsIn(part) {
      known ??= sorted();
      const entities = await known;
      const units = new Map<string, LinePlace[]>();
      for (const entity of entities) {
        const bytes = await bytesOf(entity, part);
        for (const [unit, from, to] of linesIn(bytes)) {
          const places = units.get(unit) ?? [];
          if (places.push({ bytes, from, to }) === 1) units.set(unit, places);
        }
      }
      return [...units]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, places]) => ({ id, rows: () => rowsFrom(places, entities) }));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * A file that is written in large pieces. Lines become bytes at once, because waiting strings would fill the memory.
 */
interface PartFile {
  readonly path: string;
  readonly bytes: Buffer;
  length: number;
}

/** A piece of one buffer for all parts: separate buffers would leave gaps in the memory. */
const openPart = (path: string, all: Buffer, from: number): PartFile => ({
  path,
  bytes: all.subarray(from, from + BUFFER),
  length: 0,
});

/** The most bytes of a character. */
const WIDEST = 3;

async function addLine(part: PartFile, line: string): Promise<void> {
  if (part.length + line.length * WIDEST > BUFFER) await flush(part);
  if (line.length * WIDEST > BUFFER) await appendFile(part.path, line);
  else part.length += part.bytes.write(line, part.length);
}

async function flush(part: PartFile, toDisk = false): Promise<void> {
  const { path, bytes, length } = part;
  await appendFile(path, bytes.subarray(0, length), { flush: toDisk });
  part.length = 0;
}

const NOTHING = Buffer.alloc(0);

/** A line in the bytes of a part. It stays bytes, because a string would take two to four times as much memory. */
interface LinePlace {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** The unit of each line, and the place of the rest. */
function* linesIn(bytes: Buffer): Generator<readonly [unit: string, from: number, to: number]> {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf('\n', from, 'latin1');
    const to = end === -1 ? bytes.length : end;
    const tab = bytes.indexOf('\t', from, 'latin1');
    if (tab !== -1 && tab < to) yield [bytes.toString('latin1', from, tab), tab + 1, to];
    from = to + 1;
  }
}

/** Parses what `lineOf` wrote after the unit. */
function lineAt(bytes: Buffer, from: number, to: number): Omit<RoutedRow, 'unit'> {
  const tab = bytes.indexOf('\t', from, 'latin1');
  const row: unknown = JSON.parse(bytes.toString('utf8', tab + 1, to));
  return { role: bytes.toString('latin1', from, tab) as RowRole, row: isJsonObject(row) ? row : {} };
}

/** A sorted entity without rows states that the unit has none. */
function rowsFrom(places: readonly LinePlace[], entities: ReadonlySet<DafEntity>): UnitRows {
  const lines = places.map(({ bytes, from, to }) => lineAt(bytes, from, to));
  const byRole = Map.groupBy(lines, ({ role }) => role);
  const roles: readonly RowRole[] = [...entities, 'partners', 'partnerNames'];
  return Object.fromEntries(roles.map((role) => [role, (byRole.get(role) ?? []).map(({ row }) => row)]));
}
