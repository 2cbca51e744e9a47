/** Fills the company index. Each step stores its position with what it brings: a process that ends loses one step. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Store, Tx } from '../../store/store.ts';
import type { IndexEntry } from '../entry.ts';
import { readIndexFile } from './read-file.ts';
import { type IndexState, readIndexState, saveIndexState } from './state.ts';
import { deleteEntries, storeEntries } from './write.ts';

/** Entries of one transaction: others get their turn in between. */
const STEP = 1_000;

export interface FillDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly report: (step: { readonly entries: number; readonly position: string }) => void;
  /** Called for each line that is no company. */
  readonly onProblem: (line: { readonly line: number; readonly problem: string }) => void;
}

export interface Filled {
  readonly entries: number;
  readonly problems: number;
}

/**
 * Adds the companies of a file to the index, in place of those of the same numbers. Continues where an earlier run with the
 * same file stopped. Throws the signal's reason where it is stopped.
 */
export async function fillFromFile(deps: FillDeps, file: string, signal: AbortSignal): Promise<Filled> {
  const { store } = deps;
  const { size, mtimeMs } = statSync(file);
  const source = `${basename(file)} ${size} ${Math.floor(mtimeMs)}`;
  const before = await readIndexState(store.db);
  const isSame = before?.source === source && before.phase === 'building';
  const filled = { entries: 0, problems: 0 };
  const earlier = isSame ? before.entries : 0;
  let position = isSame ? before.position : '0';
  let step: IndexEntry[] = [];
  const save = async (phase: IndexState['phase']): Promise<void> => {
    signal.throwIfAborted();
    const entries = step;
    const read = earlier + filled.entries + entries.length;
    const state: IndexState = { phase, source, position, entries: read, at: deps.now() };
    await store.write(async (tx) => {
      await saveIndexState(tx, state);
      await storeEntries(tx, entries);
    });
    filled.entries += entries.length;
    step = [];
    deps.report({ entries: filled.entries, position });
  };
  for await (const line of readIndexFile(file, Number(position))) {
    if ('problem' in line) {
      filled.problems += 1;
      deps.onProblem(line);
      continue;
    }
    step.push(line.entry);
    position = String(line.line);
    if (step.length >= STEP) await save('building');
  }
  await save('ready');
  return filled;
}

/** Reads the next entries of the register behind a position, in the transaction; empty at the end. */
export type ReadRegister = (
  tx: Tx,
  after: string,
  limit: number,
) => Promise<{ readonly entries: readonly IndexEntry[]; readonly last: string | undefined }>;

/**
 * Makes the index anew from the register's snapshots. From its beginning on the service keeps the index up to date, so that
 * no change falls between the two.
 */
export async function rebuildIndex(deps: FillDeps, read: ReadRegister, signal: AbortSignal): Promise<Filled> {
  const { store, now } = deps;
  const source = 'register';
  const before = await readIndexState(store.db);
  const isBegun = before?.source === source && before.phase !== 'ready';
  let state: IndexState = isBegun ? before : { phase: 'clearing', source, position: '', entries: 0, at: now() };
  let entries = 0;
  while (state.phase !== 'ready') {
    signal.throwIfAborted();
    const current: IndexState = state;
    const step = await store.write((tx) => rebuildStep(tx, { ...current, at: now() }, read));
    state = step.state;
    entries += step.entries;
    deps.report({ entries, position: state.position });
  }
  return { entries, problems: 0 };
}

async function rebuildStep(
  tx: Tx,
  state: IndexState,
  read: ReadRegister,
): Promise<{ readonly state: IndexState; readonly entries: number }> {
  if (state.phase === 'clearing') {
    const isSome = await deleteEntries(tx, STEP);
    const next: IndexState = isSome ? state : { ...state, phase: 'building', position: '' };
    await saveIndexState(tx, next);
    return { state: next, entries: 0 };
  }
  const { entries, last } = await read(tx, state.position, STEP);
  await storeEntries(tx, entries);
  const count = state.entries + entries.length;
  const next: IndexState =
    last === undefined ? { ...state, entries: count, phase: 'ready' } : { ...state, entries: count, position: last };
  await saveIndexState(tx, next);
  return { state: next, entries: entries.length };
}
