/** Runs an undo over all the records that it concerns, page by page, and waits out temporary faults of the CRMs. */
import { pause } from '../../runtime/limits/pause.ts';
import type { Crm } from '../crm/crm.ts';
import { patiently, type WaitReport } from '../crm/patience.ts';
import type { RecordRef } from '../names/queues.ts';
import { readBatchSize } from '../write/batch-size.ts';
import type { Undone } from './outcome.ts';
import { previewPage, type UndoBatch, type UndoDeps, undoPage } from './undo.ts';
import { readAffected, type Selection } from './writes.ts';

export interface UndoRun extends UndoDeps {
  /** The open connection of that name; undefined if it is not configured any more. */
  readonly crm: (provider: string) => Promise<Crm | undefined>;
  readonly dryRun: boolean;
  /** Stops after so many records with a property that is restored. */
  readonly limit?: number | undefined;
  /** Records that an earlier try of the same undo restored, as {@link recordKey}: they count for the limit. */
  readonly restored?: Iterable<string>;
  readonly waiting?: WaitReport | undefined;
  /** Called before each call: aborts the signal if a person cancelled meanwhile. */
  readonly look?: (() => Promise<unknown>) | undefined;
  /** Called with what became of each property, and how many of all records are done. */
  readonly report: (done: readonly Undone[], progress: UndoProgress) => Promise<void> | void;
}

/** How many of all records are done. */
export interface UndoProgress {
  readonly records: number;
  readonly of: number;
}

/** A record among those that an undo restored. */
export const recordKey = (provider: string, record: string): string => `${provider} ${record}`;

/** Finds the connections among these. */
export const crmsByName =
  (crms: readonly Crm[]): UndoRun['crm'] =>
  async (provider) =>
    crms.find(({ name }) => name === provider);

const LOOK_AGAIN_MS = 200;
/**
 * How often to look for records that a daemon works on, or that a killed undo left behind: for longer than a lease. Not
 * until a time: the machine may sleep.
 */
const LOOKS = 300;

/**
 * Takes back what is selected, or shows what that would do. Begin it again after an end of any kind: what is done is not
 * done twice. Throws the CRM's fault if it lasts.
 */
export async function undo(run: UndoRun, selection: Selection, signal: AbortSignal): Promise<void> {
  const all = await readAffected(run.store.db, selection);
  const { limit = Number.POSITIVE_INFINITY } = run;
  const restored = new Set(run.restored);
  let records = 0;
  for (const [provider, affected] of Map.groupBy(all, (each) => each.provider)) {
    const crm = await run.crm(provider);
    const most = crm === undefined ? affected.length : await readBatchSize(run.store.db, crm, run.now());
    for (let start = 0; start < affected.length && restored.size < limit; ) {
      signal.throwIfAborted();
      const page = affected.slice(start, start + Math.min(most, limit - restored.size));
      start += page.length;
      records += page.length;
      const progress = { records, of: all.length };
      if (crm === undefined) await run.report(page.map(unconfigured), progress);
      else {
        const batch = { crm, selection, ids: page.map(({ recordId }) => recordId) };
        const report = (done: readonly Undone[]): Promise<void> | void => {
          for (const { kind, record } of done) if (kind === 'restored') restored.add(recordKey(provider, record));
          return run.report(done, progress);
        };
        await undoRecords(run, batch, report, signal);
      }
    }
  }
}

async function undoRecords(
  run: UndoRun,
  { crm, selection, ids }: UndoBatch,
  report: (done: readonly Undone[]) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  let open = ids;
  const attempt = async (): Promise<void> => {
    await run.look?.();
    signal.throwIfAborted();
    const once = run.dryRun ? previewPage : undoPage;
    const result = await once(run, { crm, selection, ids: open }, signal);
    await report(result.done);
    ({ open } = result);
    if (result.fault !== undefined) throw result.fault;
  };
  for (let looks = 1; ; looks++) {
    await patiently({ crm, now: run.now, report: run.waiting }, attempt, signal);
    if (open.length === 0) return;
    if (looks === LOOKS) break;
    await pause(LOOK_AGAIN_MS, signal);
    signal.throwIfAborted();
  }
  const reason = `somebody else has worked on the record for ${(LOOKS * LOOK_AGAIN_MS) / 1_000} s: try again`;
  await report(open.map((recordId) => ({ ...whole({ provider: crm.name, recordId }), kind: 'busy', reason })));
}

/** A record about whose properties nothing can be said. */
const whole = ({ provider, recordId }: RecordRef) =>
  ({ provider, record: recordId, entity: '', property: '*', from: null }) as const;

const unconfigured = (ref: RecordRef): Undone => ({
  ...whole(ref),
  kind: 'unconfigured',
  reason: `connector.providers has no ${ref.provider} in the process that did this: restart it if the file has it`,
});
