/** `backfill`: the companies that a CRM has already are found by their number, linked, and monitored. */
import { type BackfillOptions, runBackfill } from '../connector/backfill/backfill.ts';
import { sampleRows } from '../connector/backfill/census.ts';
import { BackfillError } from '../connector/backfill/deps.ts';
import { outcomeOf } from '../connector/backfill/outcome.ts';
import { type Run, readRun } from '../connector/backfill/run.ts';
import { PlanError } from '../connector/backfill/take-plan.ts';
import { type CallsMade, type Ground, onBackfillGround } from './backfill/ground.ts';
import { showProgress } from './backfill/progress.ts';
import { documentOf, forAPerson, type Summary, textOf } from './backfill/summary.ts';
import { defineCommand, flag, integer, needed, oneOf, text, UsageError } from './command.ts';

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
  },
  run: async (context, { provider }, { dryRun, plan, apply, limit, sendUpdate, trust, restart }) => {
    const mode = modeOf(dryRun, plan, apply);
    if (limit !== undefined && (mode.kind === 'look' || mode.kind === 'plan'))
      throw new UsageError('--limit is for what is linked: leave it out with --dry-run and --plan');
    const began = Date.now();
    return onBackfillGround(context, provider, async (ground, calls) => {
      const progress = showProgress(context, calls);
      let run: Run | undefined;
      try {
        const deps = { ...ground, tell: progress.tell };
        run = await runBackfill(deps, { mode, limit, sendUpdate, trust, restart }, context.signal);
      } catch (error) {
        if (error instanceof BackfillError || error instanceof PlanError) throw new UsageError(error.message);
        if (!context.signal.aborted) throw error;
      } finally {
        progress.end();
      }
      const seconds = Math.round((Date.now() - began) / 1_000);
      const summary = await summarise(ground, calls, run, { mode, trust, sendUpdate }, seconds);
      context.output.result(documentOf(summary), textOf(summary));
      if (summary.ended === 'stopped') return 1;
      return forAPerson(summary) > 0 ? 3 : 0;
    });
  },
});

function modeOf(dryRun: boolean, plan: string | undefined, apply: string | undefined): BackfillOptions['mode'] {
  if ([dryRun, plan !== undefined, apply !== undefined].filter(Boolean).length > 1)
    throw new UsageError('--dry-run, --plan and --apply exclude each other: give one of them');
  if (plan !== undefined) return { kind: 'plan', file: plan };
  if (apply !== undefined) return { kind: 'file', file: apply };
  return { kind: dryRun ? 'look' : 'apply' };
}

/** `ended` undefined: stopped by a signal. */
async function summarise(
  { store, crm, upstream }: Ground,
  calls: CallsMade,
  ended: Run | undefined,
  asked: Pick<BackfillOptions, 'mode' | 'trust' | 'sendUpdate'>,
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
    isLook: mode.kind === 'look' || isPlan,
    next,
    ...(begun?.sendUpdate !== true && { fill: mode.kind === 'file' ? `${next} --send-update` : fillOf(provider) }),
    isMonitoring: upstream !== undefined,
    sample: { link, person },
    ...(isPlan && { file: mode.file }),
  };
}

/** The command in a mode, else the next start would be another one's: it would link, or with other options. */
function nextOf(
  provider: string,
  { mode, trust, sendUpdate }: Pick<BackfillOptions, 'mode' | 'trust' | 'sendUpdate'>,
  begun: Run | undefined,
): string {
  return [
    `cvrsync backfill ${provider}`,
    ...(mode.kind === 'look' ? ['--dry-run'] : []),
    ...(mode.kind === 'plan' ? [`--plan ${quoted(mode.file)}`] : []),
    ...(mode.kind === 'file' ? [`--apply ${quoted(mode.file)}`] : []),
    ...(sendUpdate || begun?.sendUpdate === true ? ['--send-update'] : []),
    ...((trust ?? begun?.trust) === 'register' ? ['--trust register'] : []),
  ].join(' ');
}

/** What is linked already is no longer to be linked, and a person must say it in a plan. */
const fillOf = (provider: string): string =>
  `cvrsync backfill ${provider} --plan FILE, there link as the action of what is linked, and --apply FILE --send-update`;

/** A file name as a shell takes it for one word. */
const quoted = (file: string): string => (/^[\w./\\:~-]+$/u.test(file) ? file : `"${file}"`);
