/**
 * Sorts the rows of the files by unit, on disk: the rows of one unit lie in the same of 256 parts, and a part is small
 * enough to be read at once. Linear, and in memory only as large as one part.
 */
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import type { DafEntity, UnitRows } from '../rows.ts';
import type { RoutedRow, RowRole } from './routes.ts';

export const PARTS = 256;
/** Bytes that wait for a part. */
const BUFFER = 32 << 10;

export interface Scratch {
  readonly folder: string;
  /** The entities whose rows are all there. */
  sorted(): Promise<ReadonlySet<DafEntity>>;
  /** Writes all rows of one entity; what an interrupted run left of it is replaced. */
  sort(entity: DafEntity, rows: AsyncIterable<readonly RoutedRow[]>): Promise<void>;
  /** The rows of a sorted entity, in any order. */
  rowsOf(entity: DafEntity): AsyncIterable<readonly RoutedRow[]>;
  /** The units of a part with their rows, in the order of their numbers. */
  unitsIn(part: number): Promise<readonly SortedUnit[]>;
  remove(): Promise<void>;
}

export interface SortedUnit {
  readonly id: string;
  /** Parses the rows. */
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

  /** The lines of a part: most parts of a small register have no file. */
  async function linesOf(entity: string, part: number): Promise<readonly Line[]> {
    const names = files.get(entity) ?? new Set(await readdir(join(folder, entity)).catch(() => []));
    files.set(entity, names);
    return names.has(`${part}.tsv`) ? linesIn(placeOf(entity, part)) : [];
  }

  async function sorted(): Promise<ReadonlySet<DafEntity>> {
    const done = new Set<DafEntity>();
    for (const entity of await readdir(folder).catch(() => [])) {
      const isDone = await readFile(doneMark(entity), 'utf8').catch(() => '');
      // The folders are named by this file.
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
      const parts = new Map<number, PartFile>();
      for await (const batch of batches) {
        for (const row of batch) {
          const number = partOf(row.unit);
          const part = parts.get(number) ?? openPart(placeOf(entity, number));
          parts.set(number, part);
          await addLine(part, lineOf(row));
        }
      }
      for (const part of parts.values()) await flush(part, true);
      await writeFile(`${doneMark(entity)}.new`, '1', { flush: true });
      await rename(`${doneMark(entity)}.new`, doneMark(entity));
    },
    async *rowsOf(entity) {
      for (let part = 0; part < PARTS; part++)
        yield (await linesOf(entity, part)).map(([unit, role, json]) => ({ unit, role, row: parsed(json) }));
    },
    async unitsIn(part) {
      known ??= sorted();
      const entities = await known;
      const all: Line[] = [];
      for (const entity of entities) for (const line of await linesOf(entity, part)) all.push(line);
      const lines = Map.groupBy(all, ([unit]) => unit);
      return [...lines.keys()]
        .sort((a, b) => (a < b ? -1 : 1))
        .map((id) => ({ id, rows: () => rowsFrom(lines.get(id) ?? [], entities) }));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A file that is written in large pieces. Lines go into its bytes at once: texts that wait would fill the memory. */
interface PartFile {
  readonly path: string;
  readonly bytes: Buffer;
  length: number;
}

const openPart = (path: string): PartFile => ({ path, bytes: Buffer.allocUnsafe(BUFFER), length: 0 });

/** Bytes of a character, at the most. */
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

type Line = readonly [unit: string, role: RowRole, json: string];

async function linesIn(path: string): Promise<readonly Line[]> {
  const text = await readFile(path, 'utf8');
  return text.split('\n').flatMap((line): Line[] => {
    const [unit, role] = line.split('\t', 2);
    if (unit === undefined || role === undefined) return [];
    // `lineOf` wrote it.
    return [[unit, role as RowRole, line.slice(unit.length + role.length + 2)]];
  });
}

const parsed = (json: string) => {
  const row: unknown = JSON.parse(json);
  return isJsonObject(row) ? row : {};
};

/** A sorted entity without rows states that the unit has none. */
function rowsFrom(lines: readonly Line[], entities: ReadonlySet<DafEntity>): UnitRows {
  const byRole = Map.groupBy(lines, ([, role]) => role);
  const roles: readonly RowRole[] = [...entities, 'partners', 'partnerNames'];
  return Object.fromEntries(roles.map((role) => [role, (byRole.get(role) ?? []).map(([, , json]) => parsed(json))]));
}
