/** `match`: finds the company of records that have no CVR number. */

import { writeMatchPlan } from '../../connector/backfill/match-plan.ts';
import { PlanError } from '../../connector/backfill/plan/import-plan.ts';
import { refuseFile } from '../../connector/backfill/plan/write-plan.ts';
import { BackfillError } from '../../connector/backfill/rows/backfill-context.ts';
import { outcomeOf } from '../../connector/backfill/rows/outcome.ts';
import { sampleRows } from '../../connector/backfill/rows/scan-rows.ts';
import { columnsOf } from '../../connector/backfill/scan.ts';
import { countByConfidence, sampleResults } from '../../connector/match/results.ts';
import { surveyResults } from '../../connector/match/survey.ts';
import { openSteps } from '../backfill/shown-steps.ts';
import { applyFile, type BackfillSteps, scan } from '../backfill/steps.ts';
import { type BackfillContext, type CallsMade, withBackfill } from '../backfill/with-backfill.ts';
import {
  defineCommand,
  type ExitCode,
  flag,
  integer,
  needed,
  oneOf,
  positive,
  text,
  UsageError,
} from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import type { CommandContext } from '../cli/context.ts';
import { countOf } from '../cli/count-of.ts';
import { oneLine } from '../cli/table.ts';
import { find } from './find.ts';
import { acceptCertain, type CertainSample } from './link-certain.ts';
import { index } from './make-index.ts';
import { needIndex } from './need-index.ts';
import { confidenceTable, resultText } from './show.ts';
import { undo } from './undo.ts';

const SAMPLE = 10;

export const command = defineCommand({
  name: 'match',
  examples: ['match hubspot --plan matches.csv', 'match hubspot --apply matches.csv', 'match hubspot --link-certain'],
  about: 'find the company of records that have no CVR number, for a person to accept',
  args: { provider: needed('the CRM, as it is named in the configuration') },
  options: {
    plan: text('write what was found into a file that you can edit', 'file'),
    apply: text('link exactly what this plan says', 'file'),
    dryRun: flag('only show what was found; the default'),
    linkCertain: flag('show 20 certain matches, ask, and give all of them the action link in the plan'),
    yes: flag('with --link-certain: do not ask'),
    sample: integer(`show this many random results with their reasons (default ${SAMPLE})`),
    seed: integer('with --link-certain: show the same random matches as the run that printed this number'),
    limit: positive('write at most this many lines of the plan, or link at most this many of them'),
    language: oneOf(['en', 'da'], 'the language of the reasons (default en)'),
    sendUpdate: flag('with --apply: ask the service to send each company in full at once'),
  },
  commands: [index, find, undo],
  run: async (context, { provider }, options) => {
    const { plan, apply, dryRun, linkCertain } = options;
    if ([dryRun, plan !== undefined, apply !== undefined].filter(Boolean).length > 1)
      throw new UsageError('give only one of --dry-run, --plan and --apply');
    if (linkCertain && plan === undefined) throw new UsageError('--link-certain is for --plan FILE');
    return withBackfill(context, provider, async (opened, calls) => {
      const asked = { limit: options.limit, sendUpdate: options.sendUpdate };
      if (apply !== undefined) return applyPlan(context, opened, calls, { ...asked, file: apply });
      await needIndex(opened.store.db);
      await withSteps(context, opened, calls, async (steps) => {
        if (plan !== undefined) refuseFile(plan);
        await scan(steps, { kind: 'match', restart: false });
      });
      return show(context, opened, { ...options, language: options.language ?? 'en' });
    });
  },
});

async function withSteps<T>(
  context: CommandContext,
  opened: BackfillContext,
  calls: CallsMade,
  work: (steps: BackfillSteps) => Promise<T>,
): Promise<T> {
  const shown = openSteps(context, opened, calls);
  try {
    await columnsOf(shown.deps, context.signal);
    return await work(shown.steps);
  } catch (error) {
    if (error instanceof BackfillError || error instanceof PlanError) throw new UsageError(error.message);
    throw error;
  } finally {
    shown.pause();
  }
}

interface ShowOptions {
  readonly plan: string | undefined;
  readonly linkCertain: boolean;
  readonly yes: boolean;
  readonly limit: number | undefined;
  readonly sample: number | undefined;
  readonly seed: number | undefined;
  readonly language: 'en' | 'da';
}

/** Shows the results of the run, and writes its plan. */
async function show(context: CommandContext, opened: BackfillContext, options: ShowOptions): Promise<ExitCode> {
  const { store, crm } = opened;
  const { plan, linkCertain, sample = SAMPLE, language } = options;
  const byConfidence = await countByConfidence(store.db, crm.name);
  const results = linkCertain ? [] : await sampleResults(store.db, crm.name, sample);
  const written = plan === undefined ? undefined : await writePlan(context, opened, { ...options, plan });
  const lines = [
    `Records of ${crm.name} without a number:`,
    ...confidenceTable(byConfidence),
    ...(results.length === 0 ? [] : ['', 'Some of them:']),
    ...results.map((one) => resultText(one, language)),
    '',
    plan === undefined
      ? `Nothing was linked. Write a plan with ${commandLine(context, `match ${crm.name} --plan FILE`)}`
      : `Wrote ${plan}, of which ${written?.toLink === 1 ? '1 line says' : `${written?.toLink} lines say`} link. Edit it, then run ${commandLine(context, `match ${crm.name}`, { apply: plan })}`,
  ];
  context.output.result(
    { provider: crm.name, byConfidence, sample: results, ...(plan !== undefined && { plan, ...written }) },
    lines.join('\n'),
  );
  return (byConfidence.likely ?? 0) + (byConfidence.ambiguous ?? 0) + (byConfidence.dissolved ?? 0) > 0 ? 3 : 0;
}

/** Writes the plan, with the action `link` for certain matches if the person requested and accepted that. */
async function writePlan(
  context: CommandContext,
  opened: BackfillContext,
  { plan: file, linkCertain, limit = Number.POSITIVE_INFINITY, ...asked }: ShowOptions & { readonly plan: string },
): Promise<{ readonly toLink: number; readonly certain?: CertainSample }> {
  const { store, crm } = opened;
  const survey = await surveyResults(store.db, crm.name, limit, context.signal);
  const certain = linkCertain ? await acceptCertain(context, opened, survey, asked) : undefined;
  const linked = linkCertain ? (certain?.isAccepted === true ? survey.linkable : []) : undefined;
  const { lines } = survey;
  await writeMatchPlan(opened, { file, lines, linked, language: asked.language }, context.signal);
  return { toLink: linked?.length ?? 0, ...(certain && { certain }) };
}

/** Classes of rows whose records changed since the plan. */
const LEFT_OUT = ['changed', 'gone', 'moved'] as const;

/** Links as a backfill does. */
async function applyPlan(
  context: CommandContext,
  opened: BackfillContext,
  calls: CallsMade,
  { file, ...asked }: { readonly file: string; readonly limit: number | undefined; readonly sendUpdate: boolean },
): Promise<ExitCode> {
  const { store, crm } = opened;
  const ended = await withSteps(context, opened, calls, (steps) =>
    applyFile(steps, file, { ...asked, writesNumber: true, meant: false }),
  );
  const { linked, failed, toLink, person, verdicts } = await outcomeOf(store.db, crm.name);
  const next = commandLine(context, `match ${crm.name}`, { apply: file, ...asked });
  const leftOut = LEFT_OUT.reduce((sum, verdict) => sum + (verdicts[verdict] ?? 0), 0);
  context.output.result(
    { provider: crm.name, ended: ended === 'limited' ? 'apply' : ended, linked, failed, toLink, leftOut },
    [
      `Linked ${countOf(linked, 'record')} of ${crm.name}; ${failed} could not be linked.`,
      ...(leftOut === 0 ? [] : [`Left out ${countOf(leftOut, 'record')}, changed, deleted or merged since the plan.`]),
      ...(await sampleRows(store.db, crm.name, 'person', SAMPLE)).flatMap(({ record_id: record, verdict, detail }) =>
        verdict === 'changed' ? `  ${record}: ${oneLine(detail ?? '')}` : [],
      ),
      ended === 'done'
        ? `Nothing of ${file} is left to link.`
        : `${countOf(toLink, 'record')} left. To continue: ${next}`,
    ].join('\n'),
  );
  return failed > 0 || person > 0 ? 3 : 0;
}
