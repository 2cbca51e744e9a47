/** `backfill`: finds by number the companies that a CRM already holds, links them and has them monitored. */
import { readOpenBackfill } from '../../connector/backfill/plan/backfill-task.ts';
import { printWarnings } from '../../connector/backfill/plan/doubts.ts';
import { PlanError, tryPlan } from '../../connector/backfill/plan/import-plan.ts';
import { BackfillError } from '../../connector/backfill/rows/backfill-context.ts';
import { outcomeOf } from '../../connector/backfill/rows/outcome.ts';
import { type BackfillProgress, readRun } from '../../connector/backfill/rows/progress.ts';
import { sampleRows } from '../../connector/backfill/rows/scan-rows.ts';
import { defineCommand, type ExitCode, flag, needed, oneOf, positive, text, UsageError } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import { canAsk, confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { type Mode, type ModeOptions, runMode } from './modes.ts';
import { openSteps } from './shown-steps.ts';
import type { Ended } from './steps.ts';
import { documentOf, forAPerson, type Summary, textOf, textOfPlan } from './summary.ts';
import { type BackfillContext, type CallsMade, withBackfill } from './with-backfill.ts';

const SAMPLE = 10;

export const command = defineCommand({
  name: 'backfill',
  examples: ['backfill hubspot --dry-run', 'backfill hubspot --plan plan.csv', 'backfill hubspot --apply plan.csv'],
  about: 'find the companies that a CRM already holds by their CVR number, link them and have them monitored',
  args: { provider: needed('the CRM, as it is named in the configuration') },
  options: {
    dryRun: flag('only scan, and show what would be linked'),
    plan: text('only scan, and write what would be linked into a file that you can edit', 'file'),
    apply: text('link exactly what this plan says', 'file'),
    limit: positive('link at most this many now; the next run continues'),
    sendUpdate: flag('ask the service to send each company in full at once, which fills its record'),
    trust: oneOf(['crm', 'register'], 'whose value wins if a property differs (default crm)'),
    restart: flag('discard an unfinished scan or plan, and start again'),
    yes: flag('do not ask: link what the scan finds, even if many lines of a plan look wrong'),
  },
  run: async (context, { provider }, { dryRun, plan, apply: file, limit, sendUpdate, trust, restart, yes }) => {
    if (dryRun && file !== undefined && plan === undefined) return tryFile(context, provider, file);
    const mode = modeOf(dryRun, plan, file);
    if (limit !== undefined && (mode.kind === 'look' || mode.kind === 'plan'))
      throw new UsageError('--limit counts linked records: leave it out with --dry-run and --plan');
    const began = Date.now();
    return withBackfill(context, provider, async (opened, calls) => {
      if (mode.kind === 'apply') needAnswer(context, yes, provider);
      const ended = await runShown(context, opened, calls, { mode, limit, sendUpdate, trust, restart, yes });
      const seconds = Math.round((Date.now() - began) / 1_000);
      const summary = await summarise(context, opened, ended, { mode, trust, sendUpdate, limit, yes, calls, seconds });
      context.output.result(documentOf(summary), textOf(summary));
      if (summary.ended === 'stopped') return 1;
      return forAPerson(summary) > 0 ? 3 : 0;
    });
  },
});

interface Asked extends Omit<ModeOptions, 'mayLink' | 'meant'> {
  readonly yes: boolean;
}

/** Shows the progress on stderr; undefined if a signal stopped it. */
async function runShown(
  context: CommandContext,
  opened: BackfillContext,
  calls: CallsMade,
  asked: Asked,
): Promise<Ended | undefined> {
  const shown = openSteps(context, opened, calls);
  try {
    const mayLink = async (count: number): Promise<boolean> => {
      if (asked.yes) return true;
      shown.pause();
      return confirmMany(context, false, questionOf(opened.crm.name, count), PLAN_FIRST);
    };
    return await runMode(shown, { ...asked, meant: asked.yes, mayLink });
  } catch (error) {
    if (error instanceof BackfillError || error instanceof PlanError) throw new UsageError(error.message);
    if (!context.signal.aborted) throw error;
    return undefined;
  } finally {
    shown.pause();
  }
}

const PLAN_FIRST = 'try it first with --dry-run or --plan FILE';
const questionOf = (provider: string, count: number): string =>
  `Link ${count === 1 ? '1 record' : `${count} records`} of ${provider}, and have their companies monitored?`;

/** Checks before a long scan, not after it, that the operator can confirm. */
function needAnswer(context: CommandContext, yes: boolean, provider: string): void {
  if (yes || canAsk(context)) return;
  throw new UsageError(
    `backfill ${provider} links every record whose number it finds, and cvrsync cannot ask here: add --yes, or ${PLAN_FIRST}`,
  );
}

/** `--apply FILE --dry-run`: shows what an edited plan would do. It links nothing and calls no CRM. */
const tryFile = (context: CommandContext, provider: string, file: string): Promise<ExitCode> =>
  withBackfill(context, provider, async (opened) => {
    try {
      const plan = await tryPlan(opened, file, context.signal);
      context.output.result({ provider, file, ...plan }, textOfPlan(file, plan));
      return printWarnings(plan.warnings, plan.toLink, true).length > 0 ? 3 : 0;
    } catch (error) {
      if (error instanceof BackfillError || error instanceof PlanError) throw new UsageError(error.message);
      throw error;
    }
  });

function modeOf(dryRun: boolean, plan: string | undefined, file: string | undefined): Mode {
  if ([dryRun, plan !== undefined, file !== undefined].filter(Boolean).length > 1)
    throw new UsageError('give only one of --dry-run, --plan and --apply');
  if (plan !== undefined) return { kind: 'plan', file: plan };
  if (file !== undefined) return { kind: 'file', file };
  return { kind: dryRun ? 'look' : 'apply' };
}

type RunOptions = Omit<Asked, 'restart' | 'meant'>;

/** The summary of the steps; `ended` is undefined if a signal stopped them. */
async function summarise(
  context: CommandContext,
  { store, crm, upstream }: BackfillContext,
  ended: Ended | undefined,
  { calls, seconds, ...asked }: RunOptions & Pick<Summary, 'calls' | 'seconds'>,
): Promise<Summary> {
  const { mode } = asked;
  const { name: provider } = crm;
  const run = await readRun(store.db, provider);
  // A finished backfill cannot continue: this one stopped before it began.
  const begun = ended === undefined && run?.phase === 'done' ? undefined : run;
  const isPlan = mode.kind === 'plan';
  const nextMode = isPlan && ended !== undefined ? ({ kind: 'file', file: mode.file } as const) : mode;
  const next = nextOf(context, provider, { ...asked, mode: nextMode }, begun);
  const [outcome, link, person] = await Promise.all([
    outcomeOf(store.db, provider),
    sampleRows(store.db, provider, 'link', SAMPLE),
    sampleRows(store.db, provider, 'person', SAMPLE),
  ]);
  return {
    provider,
    ended: ended ?? 'stopped',
    run: (await readOpenBackfill(store.db, provider))?.id,
    match: run?.match ?? crm.match ?? '',
    scanned: run?.scanned ?? 0,
    outcome,
    ...{ calls, seconds },
    trust: (mode.kind === 'look' ? asked.trust : run?.trust) ?? 'crm',
    before: run?.before ?? 0,
    isLook: mode.kind === 'look' || isPlan,
    next,
    ...(begun?.sendUpdate !== true && {
      fill:
        mode.kind === 'file'
          ? nextOf(context, provider, { ...asked, limit: undefined, sendUpdate: true }, begun)
          : fillOf(provider),
    }),
    isMonitoring: upstream !== undefined,
    sample: { link, person },
    ...(isPlan && { file: mode.file }),
  };
}

/** The command that continues this run, with the same mode and options. */
function nextOf(
  context: CommandContext,
  provider: string,
  { mode, trust, sendUpdate, limit, yes }: RunOptions,
  begun: BackfillProgress | undefined,
): string {
  return commandLine(context, `backfill ${provider}`, {
    dryRun: mode.kind === 'look',
    plan: mode.kind === 'plan' && mode.file,
    apply: mode.kind === 'file' && mode.file,
    limit,
    sendUpdate: sendUpdate || begun?.sendUpdate === true,
    trust: (trust ?? begun?.trust) === 'register' && 'register',
    yes,
  });
}

/** The commands that request linked companies again: a plan must name them, because they are already linked. */
const fillOf = (provider: string): string =>
  `cvrsync backfill ${provider} --plan FILE, set the action of linked rows to link, then --apply FILE --send-update`;
