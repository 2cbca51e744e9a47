/** Fills the company index. Each step stores its position in the same transaction, so a crash loses one step. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Store, Tx } from '../../store/store.ts';
import type { IndexEntry } from '../describe/entry.ts';
import { readIndexFile } from './read-file.ts';
import { mergeBucket } from './stage.ts';
import { holdsPart, type IndexState, readIndexState, saveIndexState } from './state.ts';
import { clearIndex, storeEntries } from './write.ts';

/** Entries in one transaction: other writers run in between. */
const STEP = 1_000;

export interface FillDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly report: (step: { readonly entries: number; readonly position: string }) => void;
  /** Called for each rejected line. */
  readonly onProblem: (line: { readonly line: number; readonly problem: string }) => void;
}

export interface Filled {
  readonly entries: number;
  readonly problems: number;
}

/**
 * Adds the companies of a file and replaces those with the same numbers. Continues an interrupted run with the same
 * file. Throws the signal's reason when stopped.
 */
export async function fillFromFile(deps: FillDeps, file: string, signal: AbortSignal): Promise<Filled> {
  const { store, now } = deps;
  const { size, mtimeMs } = statSync(file);
  const source = `${basename(file)} ${size} ${Math.floor(mtimeMs)}`;
  const before = await readIndexState(store.db);
  const isSame = before?.source === source && before.phase !== 'ready';
  let state: IndexState = isSame
    ? before
    : { phase: 'building', source, position: '0', entries: 0, at: now(), isPartial: false };
  const filled = { entries: 0, problems: 0 };
  let step: IndexEntry[] = [];
  const save = async (next: Pick<IndexState, 'phase' | 'position'>): Promise<void> => {
    signal.throwIfAborted();
    const entries = step;
    state = { ...state, ...next, entries: state.entries + entries.length, at: now() };
    const reached = state;
    await store.write(async (tx) => {
      await saveIndexState(tx, reached);
      await storeEntries(tx, entries, { stagedAt: reached.at });
    });
    filled.entries += entries.length;
    step = [];
    deps.report({ entries: filled.entries, position: state.position });
  };
  if (state.phase === 'building') {
    let position = state.position;
    for await (const line of readIndexFile(file, Number(position))) {
      if ('problem' in line) {
        filled.problems += 1;
        deps.onProblem(line);
        continue;
      }
      step.push(line.entry);
      position = String(line.line);
      if (step.length >= STEP) await save({ phase: 'building', position });
    }
    await save({ phase: 'sorting', position });
  }
  await sortKeys(deps, state, signal);
  return filled;
}

/** Moves the staged keys into the index, one bucket at a time; then the index is ready. */
async function sortKeys({ store, now, report }: FillDeps, state: IndexState, signal: AbortSignal): Promise<void> {
  for (let isSome = true; isSome; ) {
    signal.throwIfAborted();
    isSome = await store.write(async (tx) => {
      await saveIndexState(tx, { ...state, at: now() });
      if (await mergeBucket(tx)) return true;
      await saveIndexState(tx, { ...state, phase: 'ready', at: now(), isPartial: await holdsPart(tx) });
      return false;
    });
    report({ entries: state.entries, position: isSome ? 'sorting' : state.position });
  }
}

/** Reads the next entries of the register after a position, in the transaction; an empty list at the end. */
export type ReadRegister = (
  tx: Tx,
  after: string,
  limit: number,
) => Promise<{ readonly entries: readonly IndexEntry[]; readonly last: string | undefined }>;

/**
 * Rebuilds the index from the register's snapshots. The service keeps it up to date from the start of the rebuild, so
 * no change is lost.
 */
export async function rebuildIndex(deps: FillDeps, read: ReadRegister, signal: AbortSignal): Promise<Filled> {
  const { store, now } = deps;
  const source = 'register';
  const before = await readIndexState(store.db);
  const isBegun = before?.source === source && before.phase !== 'ready';
  let state: IndexState = isBegun
    ? before
    : { phase: 'clearing', source, position: '', entries: 0, at: now(), isPartial: false };
  let entries = 0;
  while (state.phase !== 'sorting') {
    signal.throwIfAborted();
    const current: IndexState = state;
    const step = await store.write((tx) => rebuildStep(tx, { ...current, at: now() }, read));
    state = step.state;
    entries += step.entries;
    deps.report({ entries, position: state.position });
  }
  await sortKeys(deps, state, signal);
  return { entries, problems: 0 };
}

async function rebuildStep(
  tx: Tx,
  state: IndexState,
  read: ReadRegister,
): Promise<{ readonly state: IndexState; readonly entries: number }> {
  if (state.phase === 'clearing') {
    const isSome = await clearIndex(tx, STEP);
    const next: IndexState = isSome ? state : { ...state, phase: 'building', position: '' };
    await saveIndexState(tx, next);
    return { state: next, entries: 0 };
  }
  const { entries, last } = await read(tx, state.position, STEP);
  const count = state.entries + entries.length;
  const next: IndexState =
    last === undefined ? { ...state, entries: count, phase: 'sorting' } : { ...state, entries: count, position: last };
  await saveIndexState(tx, next);
  await storeEntries(tx, entries, { stagedAt: state.at });
  return { state: next, entries: entries.length };
}
