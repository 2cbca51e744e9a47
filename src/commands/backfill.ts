/** `backfill`: the companies that a CRM has already are found by their number, linked, and monitored. */
import { type BackfillOptions, runBackfill, tryPlan } from '../connector/backfill/backfill.ts';
import { printWarnings } from '../connector/backfill/plan/doubts.ts';
import { PlanError } from '../connector/backfill/plan/take.ts';
import { type BackfillDeps, BackfillError } from '../connector/backfill/rows/context.ts';
import { outcomeOf } from '../connector/backfill/rows/outcome.ts';
import { sampleRows } from '../connector/backfill/rows/rows.ts';
import { type BackfillRun, readRun } from '../connector/backfill/rows/run.ts';
import { type BackfillContext, type CallsMade, withBackfill } from './backfill/context.ts';
import { showProgress } from './backfill/progress.ts';
import { documentOf, forAPerson, type Summary, textOf, textOfPlan } from './backfill/summary.ts';
import { defineCommand, type ExitCode, flag, integer, needed, oneOf, text, UsageError } from './cli/command.ts';
import { confirmMany } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';

const SAMPLE = 10;

export const command = defineCommand({
  name: 'backfill',
  about: 'find the companies a CRM has already by their CVR number, link them, have them monitored',
  args: { provider: needed('the CRM, as it is named in the configuration') },
  options: {
    dryRun: flag('only scan, and show what would be linked'),
    plan: text('only scan, and write what would be linked into a file that a person may edit', 'file'),
    apply: text('link exactly what this plan says', 'file'),
    limit: integer('link at most so many now; the next start goes on'),
    sendUpdate: flag('have the service send each company at once, whole: the first fill'),
    trust: oneOf(
      ['crm', 'register'],
      'whose word counts where a property differs at the first fill; crm where not given',
    ),
    restart: flag('forget a scan or a plan that is not done, and begin again'),
    yes: flag('without a question: link what the scan finds, or a plan that looks as if a column had slipped'),
  },
  run: async (context, { provider }, { dryRun, plan, apply, limit, sendUpdate, trust, restart, yes }) => {
    if (dryRun && apply !== undefined && plan === undefined) return tryFile(context, provider, apply);
    const mode = modeOf(dryRun, plan, apply);
    if (limit !== undefined && (mode.kind === 'poll' || mode.kind === 'plan'))
      throw new UsageError('--limit is for what is linked: leave it out with --dry-run and --plan');
    const began = Date.now();
    return withBackfill(context, provider, async (opened, calls) => {
      if (mode.kind === 'apply') needAnswer(context, yes, provider);
      let progress = showProgress(context, calls);
      let run: BackfillRun | undefined;
      try {
        const deps: BackfillDeps = { ...opened, report: (step) => progress.report(step) };
        const mayLink = async (count: number): Promise<boolean> => {
          if (yes) return true;
          progress.end();
          const isMeant = await confirmMany(context, yes, questionOf(provider, count), PLAN_FIRST);
          progress = showProgress(context, calls);
          return isMeant;
        };
        const options = { mode, limit, sendUpdate, trust, restart, meant: yes, mayLink };
        run = await runBackfill(deps, options, context.signal);
      } catch (error) {
        if (error instanceof BackfillError || error instanceof PlanError) throw new UsageError(error.message);
        if (!context.signal.aborted) throw error;
      } finally {
        progress.end();
      }
      const seconds = Math.round((Date.now() - began) / 1_000);
      const summary = await summarise(opened, calls, run, { mode, trust, sendUpdate, yes }, seconds);
      context.output.result(documentOf(summary), textOf(summary));
      if (summary.ended === 'stopped') return 1;
      return forAPerson(summary) > 0 ? 3 : 0;
    });
  },
});

const PLAN_FIRST = 'look first with --dry-run or --plan FILE';
const questionOf = (provider: string, count: number): string =>
  `Link ${count === 1 ? '1 record' : `${count} records`} of ${provider}, and have their companies monitored?`;

/** Before a scan of an hour, and not after it. */
function needAnswer({ stdin, stderr, json }: CommandContext, yes: boolean, provider: string): void {
  if (yes || (stdin?.isTTY === true && stderr.isTTY === true && !json)) return;
  throw new UsageError(
    `backfill ${provider} links every record whose number it finds, and nobody can be asked here: add --yes, or ${PLAN_FIRST}`,
  );
}

/** `--apply FILE --dry-run`: what an edited plan would do. Nothing is linked, and no CRM is asked. */
const tryFile = (context: CommandContext, provider: string, file: string): Promise<ExitCode> =>
  withBackfill(context, provider, async (opened) => {
    try {
      const plan = await tryPlan({ ...opened, report: () => {} }, file, context.signal);
      context.output.result({ provider, file, ...plan }, textOfPlan(file, plan));
      return printWarnings(plan.warnings, plan.toLink, true).length > 0 ? 3 : 0;
    } catch (error) {
      if (error instanceof BackfillError || error instanceof PlanError) throw new UsageError(error.message);
      throw error;
    }
  });

function modeOf(dryRun: boolean, plan: string | undefined, apply: string | undefined): BackfillOptions['mode'] {
  if ([dryRun, plan !== undefined, apply !== undefined].filter(Boolean).length > 1)
    throw new UsageError('--plan and --dry-run, and --plan and --apply, exclude each other: give one of them');
  if (plan !== undefined) return { kind: 'plan', file: plan };
  if (apply !== undefined) return { kind: 'file', file: apply };
  return { kind: dryRun ? 'poll' : 'apply' };
}

type Asked = Pick<BackfillOptions, 'mode' | 'trust' | 'sendUpdate'> & { readonly yes: boolean };

/** `ended` undefined: stopped by a signal. */
async function summarise(
  { store, crm, upstream }: BackfillContext,
  calls: CallsMade,
  ended: BackfillRun | undefined,
  asked: Asked,
  seconds: number,
): Promise<Summary> {
  const { mode } = asked;
  const { name: provider } = crm;
  const run = ended ?? (await readRun(store.db, provider));
  // Of a run that is done, nothing is gone on with: this one was stopped before it began.
  const begun = ended ?? (run?.phase === 'done' ? undefined : run);
  const isPlan = mode.kind === 'plan';
  const nextMode = isPlan && ended !== undefined ? ({ kind: 'file', file: mode.file } as const) : mode;
  const next = nextOf(provider, { ...asked, mode: nextMode }, begun);
  const [outcome, link, person] = await Promise.all([
    outcomeOf(store.db, provider),
    sampleRows(store.db, provider, 'link', SAMPLE),
    sampleRows(store.db, provider, 'person', SAMPLE),
  ]);
  const how = { planned: 'planned', done: 'done' } as const;
  return {
    provider,
    ended:
      ended === undefined
        ? 'stopped'
        : ended.phase === 'planned' || ended.phase === 'done'
          ? how[ended.phase]
          : 'limited',
    match: run?.match ?? crm.match ?? '',
    scanned: run?.scanned ?? 0,
    outcome,
    calls,
    seconds,
    trust: run?.trust ?? 'crm',
    before: run?.before ?? 0,
    isLook: mode.kind === 'poll' || isPlan,
    next,
    ...(begun?.sendUpdate !== true && { fill: mode.kind === 'file' ? `${next} --send-update` : fillOf(provider) }),
    isMonitoring: upstream !== undefined,
    sample: { link, person },
    ...(isPlan && { file: mode.file }),
  };
}

/** The command in a mode, else the next start would be another one's: it would link, or with other options. */
function nextOf(provider: string, { mode, trust, sendUpdate, yes }: Asked, begun: BackfillRun | undefined): string {
  return [
    `cvrsync backfill ${provider}`,
    ...(mode.kind === 'poll' ? ['--dry-run'] : []),
    ...(mode.kind === 'plan' ? [`--plan ${quoted(mode.file)}`] : []),
    ...(mode.kind === 'file' ? [`--apply ${quoted(mode.file)}`] : []),
    ...(sendUpdate || begun?.sendUpdate === true ? ['--send-update'] : []),
    ...((trust ?? begun?.trust) === 'register' ? ['--trust register'] : []),
    ...(yes ? ['--yes'] : []),
  ].join(' ');
}

/** What is linked already is no longer to be linked, and a person must say it in a plan. */
const fillOf = (provider: string): string =>
  `cvrsync backfill ${provider} --plan FILE, there link as the action of what is linked, and --apply FILE --send-update`;

/** A file name as a shell takes it for one word. */
const quoted = (file: string): string => (/^[\w./\\:~-]+$/u.test(file) ? file : `"${file}"`);
