/**
 * Loads everything from the weekly files of one generation, then continues with the feed. A page is one step: it
 * downloads a file and sorts it by unit, or returns the documents of some units. The cursor names the step, and the
 * folder has everything else, so a process that ends at any point can continue.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import { type RegisterSource, SourceError, type SourcePage } from '../../source.ts';
import { compose } from '../compose.ts';
import { familiesWithout } from '../families.ts';
import { type DafEntity, ENTITIES, type UnitRows, unitIdOf } from '../rows.ts';
import { download, type FileAccess, FileRefused, readFileList } from './download.ts';
import { type Generation, newestGeneration, type WeeklyFile } from './file-list.ts';
import { recordsIn } from './records.ts';
import { createRoutes, FIRST_ENTITIES, type RoutedRow, type Routes } from './routes.ts';
import { openScratch, PARTS, type Scratch, type SortedUnit } from './scratch.ts';
import { readZip } from './zip.ts';

export interface FirstLoadOptions {
  readonly access: FileAccess;
  /** Holds the files during the load: 8 GB for the whole register. */
  readonly folder: string;
  /** The cursor of the feed that begins at a time. */
  readonly feedFrom: (time: number, signal: AbortSignal) => Promise<string>;
  /** 500 by default. */
  readonly pageSize?: number;
  readonly now: () => number;
}

/** The progress of the load, as JSON in the cursor. */
interface LoadState {
  readonly generation: number;
  readonly pointInTime: number;
  /** Entities whose files the user has no access to. */
  readonly refused: readonly DafEntity[];
  /** The next unit: `part`, and the number of its units that earlier pages had. */
  readonly part: number;
  readonly at: number;
  readonly askedAt: number;
}

const EARLY_MS = 3_600_000;
const ORDER: readonly DafEntity[] = [...FIRST_ENTITIES, ...ENTITIES.filter((each) => !FIRST_ENTITIES.includes(each))];

export function withFirstLoad(feed: RegisterSource, options: FirstLoadOptions): RegisterSource {
  const load = createLoad(options);
  return {
    ...feed,
    async page(cursor, signal) {
      const state = readLoad(cursor);
      if (state === undefined && cursor !== undefined && isFeed(feed, cursor)) {
        await load.end();
        return await feed.page(cursor, signal);
      }
      return await load.step(state, signal);
    },
    parts(cursor) {
      const state = readLoad(cursor);
      if (state === undefined) return feed.parts?.(cursor) ?? {};
      const { askedAt, pointInTime } = state;
      return { changes: { readAt: askedAt, loadedUntil: 0, more: true, walkedTo: pointInTime } };
    },
  };
}

/** Whether the feed knows the cursor; if not, the load begins again. */
const isFeed = (feed: RegisterSource, cursor: string): boolean => Object.keys(feed.parts?.(cursor) ?? {}).length > 0;

function readLoad(cursor: string | undefined): LoadState | undefined {
  try {
    const json: unknown = JSON.parse(cursor ?? '');
    const files = isJsonObject(json) ? json['files'] : undefined;
    const { generation, pointInTime, refused, part, at, askedAt } = isJsonObject(files) ? files : {};
    const numbers = [generation, pointInTime, part, at, askedAt];
    // Only this file writes a cursor with files.
    return numbers.every((each) => typeof each === 'number') && Array.isArray(refused)
      ? (files as unknown as LoadState)
      : undefined;
  } catch {
    return undefined;
  }
}

function createLoad(options: FirstLoadOptions) {
  const { folder, now } = options;
  const routes = createRouteMemory();
  const readPart = createPartMemory();
  let isEnded = false;

  /** Removes the files. Call it after the cursor that no longer needs them is stored. */
  async function end(): Promise<void> {
    if (!isEnded) await removeGenerations(folder);
    isEnded = true;
  }

  async function step(given: LoadState | undefined, signal: AbortSignal): Promise<SourcePage> {
    signal.throwIfAborted();
    isEnded = false;
    const state = given ?? (await begin(options, signal));
    const scratch = openScratch(join(folder, `generation-${state.generation}`));
    const sorted = await scratch.sorted();
    const next = ORDER.find((entity) => !sorted.has(entity) && !state.refused.includes(entity));
    if (next !== undefined) return await sortNext(state, scratch, next, signal);
    routes.forget();
    return await unitsFrom(state, scratch, signal);
  }

  /** Downloads and sorts the file of one entity. If its generation is gone, the load begins again with the newest. */
  async function sortNext(
    state: LoadState,
    scratch: Scratch,
    entity: DafEntity,
    signal: AbortSignal,
  ): Promise<SourcePage> {
    const generation = await newest(options, signal);
    await removeGenerations(folder, generation.number);
    if (generation.number !== state.generation) return pageOf(stateOf(generation, now()), now());
    const file = generation.files.find((each) => each.entity === entity);
    if (file === undefined) throw new SourceError(`Datafordeler lists no file of ${entity}`);
    await mkdir(scratch.folder, { recursive: true });
    const path = join(scratch.folder, file.name.replaceAll(/[^\w.-]/gu, '_'));
    await removeArchives(scratch.folder, path);
    try {
      await download(options.access, file, path, signal);
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      return pageOf({ ...state, refused: [...state.refused, entity] }, now());
    }
    await scratch.sort(entity, routed(file, path, await routes.of(scratch), signal));
    await rm(path, { force: true });
    return pageOf(state, now());
  }

  async function unitsFrom(state: LoadState, scratch: Scratch, signal: AbortSignal): Promise<SourcePage> {
    const { pageSize = 500 } = options;
    await removeArchives(scratch.folder);
    for (let { part, at } = state; part < PARTS; part += 1, at = 0) {
      const all = await readPart(scratch, part);
      const units = all.slice(at, at + pageSize);
      if (units.length === 0) continue;
      const page = pageOf({ ...state, part, at: at + units.length }, now());
      return { ...page, documents: documentsOf(units, state.pointInTime) };
    }
    const cursor = await options.feedFrom(state.pointInTime - EARLY_MS, signal);
    return { documents: [], cursor, more: true };
  }

  return { step, end };
}

async function newest({ access, now }: FirstLoadOptions, signal: AbortSignal): Promise<Generation> {
  const generation = newestGeneration(await readFileList(access, signal), now());
  if (generation !== undefined) return generation;
  throw new SourceError('Datafordeler lists no whole generation of weekly files: waiting for one', {
    retryAfterMs: 15 * 60_000,
  });
}

const begin = async (options: FirstLoadOptions, signal: AbortSignal): Promise<LoadState> =>
  stateOf(await newest(options, signal), options.now());

const stateOf = ({ number: generation, pointInTime }: Generation, askedAt: number): LoadState => ({
  ...{ generation, pointInTime, refused: [], part: 0, at: 0, askedAt },
});

function pageOf(state: LoadState, askedAt: number): SourcePage {
  const { refused } = state;
  const unknown = familiesWithout(refused).join(', ') || 'details';
  return {
    documents: [],
    cursor: JSON.stringify({ files: { ...state, askedAt } }),
    more: true,
    ...(refused.length > 0 && {
      trouble: `Datafordeler refuses the files of ${refused.join(', ')}: unknown are ${unknown}`,
    }),
  };
}

/** The rows of a file, with the documents that need them. */
async function* routed(file: WeeklyFile, path: string, routes: Routes, signal: AbortSignal) {
  for (const entry of await readZip(path))
    for await (const rows of recordsIn(entry.open(), formatOf(entry.name) ?? file.format)) {
      signal.throwIfAborted();
      yield rows.flatMap((row) => routes.of(file.entity, row));
    }
}

/** What earlier files say of the units; read again after a restart. */
function createRouteMemory() {
  let known: { readonly folder: string; readonly routes: Routes } | undefined;
  return {
    forget(): void {
      known = undefined;
    },
    async of(scratch: Scratch): Promise<Routes> {
      if (known?.folder === scratch.folder) return known.routes;
      const routes = createRoutes();
      const sorted = await scratch.sorted();
      for (const entity of FIRST_ENTITIES.filter((each) => sorted.has(each)))
        for await (const rows of scratch.rowsOf(entity)) noteOwn(routes, entity, rows);
      known = { folder: scratch.folder, routes };
      return routes;
    },
  };
}

/** Leaves out rows that were routed to another unit. */
function noteOwn(routes: Routes, entity: DafEntity, rows: readonly RoutedRow[]): void {
  for (const { unit, row } of rows) if (unitIdOf(row) === unit) routes.note(entity, row);
}

/** Reads a part, and caches it until the next part. */
function createPartMemory() {
  let known: { readonly key: string; readonly units: readonly SortedUnit[] } | undefined;
  return async (scratch: Scratch, part: number): Promise<readonly SortedUnit[]> => {
    const key = `${scratch.folder} ${part}`;
    if (known?.key !== key) {
      known = undefined;
      known = { key, units: await scratch.unitsIn(part) };
    }
    return known.units;
  };
}

async function removeGenerations(folder: string, but?: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (/^generation-\d+$/u.test(name) && name !== `generation-${but}`)
      await rm(join(folder, name), { recursive: true, force: true });
}

/** Removes archives, which hold names of persons, after a process ended while it sorted one. */
async function removeArchives(folder: string, but?: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isFile() && path !== but) await rm(path, { force: true });
  }
}

const formatOf = (name: string): 'csv' | 'json' | undefined => {
  if (/\.csv$/iu.test(name)) return 'csv';
  return /\.(?:json|jsonl|ndjson)$/iu.test(name) ? 'json' : undefined;
};

function* documentsOf(units: readonly SortedUnit[], pointInTime: number): Generator<unknown> {
  for (const unit of units) {
    const rows = unit.rows();
    const document = compose(rows, loadedAtOf(rows) ?? new Date(pointInTime).toISOString());
    if (document !== undefined) yield document;
  }
}

function loadedAtOf({ partners: _, partnerNames: __, ...rows }: UnitRows): string | null {
  let latest: string | null = null;
  for (const list of Object.values(rows))
    for (const { datafordelerOpdateringstid: at } of list ?? [])
      if (typeof at === 'string' && (latest === null || at > latest)) latest = at;
  return latest;
}

/** The last event before a time, by binary search; `timeOf` reads one event. */
export async function eventBefore(
  time: number,
  mark: number,
  timeOf: (event: number) => Promise<number | undefined>,
): Promise<number> {
  let [before, after] = [0, mark + 1];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const at = await timeOf(middle);
    if (at !== undefined && at < time) before = middle;
    else after = middle;
  }
  return before;
}
