import type { ConnectorConfig } from '../../config/load.ts';
import type { Undone } from '../../connector/undo/outcome.ts';
import { readResults, UNDO } from '../../connector/undo/undo-task.ts';
import type { Selection } from '../../connector/undo/writes.ts';
import type { StoredRun } from '../../runtime/runs/runs.ts';
import type { Db } from '../../store/store.ts';
import { commandLine } from '../cli/command-line.ts';
import type { CommandContext } from '../cli/context.ts';
import { countOf } from '../cli/count-of.ts';
import { shownTime } from '../cli/when.ts';
import { isOpen, openLines } from '../progress/carry-out-run.ts';

/** The most lines to show a person; `--json` shows all. */
const SHOWN = 100;

export const NOTHING = 'cvrsync wrote nothing that this could restore.';

/** The options that select the writes, and those for the values, as the command and the operation take them. */
export type UndoOptions = Pick<Selection, 'event' | 'entity' | 'provider' | 'property'> & {
  readonly limit: number | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly hold: string | undefined;
};

export interface UndoNotes {
  /** The message if nothing was written. */
  readonly nothing: string;
  readonly connector: ConnectorConfig;
  readonly options: UndoOptions;
  /** How long restored values are held; infinite: without an end. */
  readonly holdMs: number;
  readonly dryRun: boolean;
}

export interface UndoOutcome {
  readonly run: StoredRun<unknown>;
  readonly done: readonly Undone[];
}

/** Throws if the run failed. */
export async function readOutcome(
  context: CommandContext,
  db: Db,
  run: StoredRun<unknown>,
  { options }: UndoNotes,
): Promise<UndoOutcome> {
  const done = await readResults(db, run.id, Number.MAX_SAFE_INTEGER);
  if (run.state !== 'failed') return { run, done };
  const restored = run.stage === 'run' ? restoredIn(done).length : 0;
  const begun = restored === 0 ? 'undo' : `undo restored ${restored} properties and then`;
  const next = commandLine(context, 'undo', options);
  throw new Error(`${begun} failed: ${run.error}. To continue: ${next}. To see it: cvrsync runs show ${run.id}`);
}

export const restoredIn = (done: readonly Undone[]): readonly Undone[] =>
  done.filter(({ kind }) => kind === 'restored');

/** Shows the results, and how to continue. */
export function report(context: CommandContext, { run, done }: UndoOutcome, notes: UndoNotes): 0 | 1 | 3 {
  const { output } = context;
  const isPreview = run.stage === 'preview';
  const kept = done.filter(({ kind }) => !UNDO.fine.includes(kind)).length;
  const code = run.state !== 'done' ? 1 : kept > 0 ? 3 : 0;
  const left = run.total === null ? 0 : run.total - run.done;
  if (context.json) {
    const counts = Object.fromEntries(
      [...Map.groupBy(done, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]),
    );
    output.result({ run: run.id, dryRun: notes.dryRun, counts, left, properties: done }, '');
    return code;
  }
  const { nothing, connector, options } = notes;
  output.table(done.slice(0, SHOWN).map(rowOf(isPreview)), nothing);
  if (done.length > SHOWN) output.line(`… and ${done.length - SHOWN} more: --json shows all.`);
  const restored = restoredIn(done).length;
  if (isPreview) output.line(`${restored} would be restored. Nothing was written.`);
  else if (restored > 0) output.line(`${restored} restored. ${heldText(notes)}`);
  if (kept > 0) output.line(`${kept} left as they are, for the reasons given.`);
  const staying = options.property === undefined ? timesOfChange(connector, done) : [];
  if (staying.length > 0)
    output.line(
      `${staying.join(', ')} stays as it is, because the register did change then. Name it with --property to restore it too.`,
    );
  for (const line of endingLines(context, { run, done }, { left, options })) output.line(line);
  return code;
}

/** How it ended, and the command that continues it. */
function endingLines(
  context: CommandContext,
  { run, done }: UndoOutcome,
  { left, options }: Pick<UndoNotes, 'options'> & { readonly left: number },
): readonly string[] {
  const next = commandLine(context, 'undo', options);
  if (isOpen(run)) return openLines(run, next);
  if (run.state === 'cancelled')
    return [
      `Run ${run.id} was cancelled${run.stage === 'run' ? ': what it restored stays restored' : ''}. To continue: ${next}`,
    ];
  if (run.stage === 'preview' || done.length === 0) return [];
  return [
    left > 0
      ? `${countOf(left, 'record')} left by --limit. To continue: ${next}`
      : 'Nothing is left to restore of what you named.',
  ];
}

const rowOf =
  (isPreview: boolean) =>
  ({ provider, record, property, kind, from, to, reason }: Undone) => ({
    record: `${provider}:${record}`,
    property,
    result: kind === 'restored' && isPreview ? 'to restore' : kind,
    from: shown(from),
    to: to === undefined ? '' : shown(to),
    reason: reason ?? '',
  });

const shown = (value: Undone['from']): string => (value === null ? '(blank)' : String(value));

function heldText({ holdMs }: UndoNotes): string {
  const until = Number.isFinite(holdMs) ? `until ${shownTime(Date.now() + holdMs)}` : 'until you end the hold';
  return `cvrsync holds each value ${until}, so that the next sync does not overwrite it. End a hold: cvrsync hold RECORD PROPERTY --clear. List holds: cvrsync hold list.`;
}

/** The properties with the time of the register's last change, which undo restores only by name. */
function timesOfChange({ providers }: ConnectorConfig, done: readonly Undone[]): readonly string[] {
  const concerned = new Set(done.map(({ provider }) => provider));
  const rows = providers.filter(({ name }) => concerned.has(name)).flatMap(({ mapping }) => mapping);
  const times = rows.filter(({ field, policy }) => field === 'registerChangedAt' && policy !== 'never');
  return [...new Set(times.map(({ property }) => property))];
}
