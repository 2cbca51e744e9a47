/**
 * A backfill's place: how far it has come, and who carries it on. One row per connection, written in the transaction that
 * holds the work it tells of, so that a process may be killed anywhere and the next one goes on from there.
 */
import { randomUUID } from 'node:crypto';
import { readValue, writeValue } from '../../../store/kv.ts';
import { type Db, engineOf, type Tx } from '../../../store/store.ts';
import type { Link } from '../../links/links.ts';
import { revisionOf } from '../../names/revision.ts';

/**
 * `clear` forgets the scan before; `scan` and `decide` make the plan; `planned` waits for a person; `import` takes in a
 * plan file; `apply` links; `confirm` waits for the monitoring service; `done`.
 */
export type Phase = 'clear' | 'scan' | 'decide' | 'planned' | 'import' | 'apply' | 'confirm' | 'done';

export interface BackfillProgress {
  /** The process that works on it: another one that takes over writes its own, and the old one stops. */
  readonly owner: string;
  readonly phase: Phase;
  /** The property that was scanned for numbers. */
  readonly match: string;
  /** Where the scan goes on. */
  readonly cursor?: string;
  /** The position of the last row, in the order of the scan. */
  readonly end: number;
  /** The position up to which rows were applied. */
  readonly applied: number;
  readonly scanned: number;
  readonly trust: NonNullable<Link['trust']>;
  readonly sendUpdate: boolean;
  /** Records that are linked get the company's number, where they hold none. */
  readonly writesNumber?: boolean | undefined;
  /** Rows that were to be linked and were already: they keep the properties that were decided. */
  readonly before?: number;
  /** The file into which the plan is being written, or was when that was cut. */
  readonly unwritten?: string | undefined;
  /** Digest of the plan file whose lines the rows follow. */
  readonly file?: string | undefined;
  /**
   * Of a plan that was confirmed: whether its rows are linked exactly as they stand. Else records whose number changed since the
   * scan are decided again.
   */
  readonly isExact?: boolean;
  readonly startedAt: number;
  /** How often people edited the plan. */
  readonly edits?: number;
  /** How many more rows an apply with a limit may link; then the rest is planned again. */
  readonly left?: number | undefined;
  /** The run that works on it, or did last. */
  readonly run?: number;
}

/** What a person saw of a connection's plan, to tell whether it is still that one. */
export const planRevision = (run: BackfillProgress | undefined): string =>
  run === undefined ? 'none' : revisionOf(run.phase, ...[run.startedAt, run.edits ?? 0, run.applied].map(String));

/** Whether a plan is still being made. */
export const isScanning = (phase: Phase): boolean => phase === 'clear' || phase === 'scan' || phase === 'decide';
/** Whether a plan is being linked. */
export const isApplying = (phase: Phase): boolean => phase === 'import' || phase === 'apply' || phase === 'confirm';

/** Whether a plan was applied in part, and waits for the rest to be. */
export const isInPart = ({ phase, isExact }: BackfillProgress): boolean => phase === 'planned' && isExact !== undefined;

/** Another process began to carry the backfill on. */
class BackfillTakenOverError extends Error {
  override readonly name = 'BackfillTakenOverError';
}

const keyOf = (provider: string): string => `backfill:${provider}`;

/** The connection's backfill, undefined if there never was one. */
export async function readRun(db: Db, provider: string): Promise<BackfillProgress | undefined> {
  const text = await readValue(db, keyOf(provider));
  return text === undefined ? undefined : JSON.parse(text);
}

export const newOwner = (): string => randomUUID();

/** A backfill from its beginning. */
export const freshRun = (
  owner: string,
  options: Pick<BackfillProgress, 'trust' | 'sendUpdate' | 'match'>,
  now: number,
): BackfillProgress => ({
  ...options,
  owner,
  phase: 'clear',
  end: 0,
  applied: 0,
  scanned: 0,
  startedAt: now,
});

/** Makes a run the connection's, whoever carried one before. */
export const putRun = (tx: Tx, provider: string, run: BackfillProgress, now: number): Promise<void> =>
  writeValue(tx, keyOf(provider), JSON.stringify(run), now);

/** Writes how far the run has come. Throws {@link BackfillTakenOverError} if another process carries it by now. */
export async function saveRun(tx: Tx, provider: string, run: BackfillProgress, now: number): Promise<void> {
  await holdRun(tx, provider, run);
  await putRun(tx, provider, run, now);
}

/** Locks the run until the transaction ends; throws if it is no longer ours. */
export async function holdRun(tx: Tx, provider: string, { owner }: BackfillProgress): Promise<void> {
  if ((await lockRun(tx, provider))?.owner !== owner)
    throw new BackfillTakenOverError(`another process has taken over the backfill of ${provider}; this one stops`);
}

/** The run, locked until the transaction ends. */
export async function lockRun(tx: Tx, provider: string): Promise<BackfillProgress | undefined> {
  const row = await tx
    .selectFrom('kv')
    .select('value')
    .where('key', '=', keyOf(provider))
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.value);
}
