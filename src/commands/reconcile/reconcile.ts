/** `reconcile`: compares the service's list, the links and the CRM; shows and repairs what differs. */
import { isSafetyLimitOn, SAFETY_LIMIT_KEY } from '../../connector/follow/safety-limit.ts';
import { healQueue } from '../../connector/names/queues.ts';
import type { ReconcileContext } from '../../connector/reconcile/context.ts';
import { type ExclusiveResult, runExclusively } from '../../connector/reconcile/exclusive-run.ts';
import { forgetLists } from '../../connector/reconcile/records.ts';
import { type Mandate, repairAll } from '../../connector/reconcile/repair.ts';
import { rememberSizes, survey } from '../../connector/reconcile/survey.ts';
import { withBackfill } from '../backfill/with-backfill.ts';
import { defineCommand, type ExitCode, flag, needed, positive, UsageError } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import { confirm } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { showWaiting } from '../cli/waiting.ts';
import { documentOf, linesOf, type ReconcileView, shownOf } from './show.ts';

const SHOWN = 10;

interface Options {
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly allowShrink: boolean;
  readonly limit: number | undefined;
}

export const command = defineCommand({
  name: 'reconcile',
  examples: ['reconcile hubspot --dry-run', 'reconcile hubspot --yes'],
  audit: 'reconcile.run',
  about: "compare the service's list, the links and the CRM, show what differs and repair it",
  args: { provider: needed('the CRM, as it is named in the configuration') },
  options: {
    dryRun: flag('only show what differs and what would be done'),
    yes: flag('repair without asking'),
    allowShrink: flag('repair even if a list is empty or far smaller than before: you confirm that it is right'),
    limit: positive(`show at most this many of each kind (default ${SHOWN})`),
  },
  run: async (context, { provider }, options) => {
    if (options.dryRun && options.yes) throw new UsageError('--dry-run and --yes exclude each other: give one of them');
    return withBackfill(context, provider, async ({ store, crm, upstream, now, leaseMs }) => {
      const code = await runExclusively({ store, crm, now, leaseMs }, (claim) =>
        reconcile(context, { store, crm, upstream, now, claim, ...progressOf(context) }, options),
      );
      if (code === undefined)
        throw new Error(
          `${provider} is being reconciled now, by the daemon or in another terminal: try again when that ends`,
        );
      return code;
    });
  },
});

async function reconcile(
  context: CommandContext,
  opened: ReconcileContext,
  options: Options,
): Promise<ExclusiveResult<ExitCode>> {
  const { signal, output, json } = context;
  const { dryRun, allowShrink } = options;
  const found = await survey(opened, signal);
  const mandate: Mandate = { person: true, implausible: allowShrink };
  const shown = await shownOf(opened.store.db, found, mandate, options.limit ?? SHOWN);
  if (!json) for (const line of linesOf(found, shown)) output.line(line);
  const repairable = count(shown, 'repaired');
  const asked = await mayRepair(context, options, repairable);
  const repaired = asked === true ? await repairAll(opened, found, mandate, signal) : undefined;
  const isBelieved = found.doubts.length === 0 || allowShrink;
  if (isBelieved && !dryRun) await rememberSizes(opened, found);
  await forgetLists(opened);
  const ending: Ending = {
    repairable,
    left: count(shown, 'mismatch') + count(shown, 'person'),
    asked,
    refused: repaired?.refused ?? [],
    isBelieved,
    isLimited: repaired !== undefined && (await isSafetyLimitOn(opened.store.db, opened.crm.name)),
  };
  if (json) output.result(documentOf(found, shown, repaired), '');
  else
    for (const line of [
      '',
      ...endingOf(ending),
      ...safetyLimitLines(opened, ending, allowShrink),
      ...nextLines(context, ending, { provider: opened.crm.name, allowShrink, limit: options.limit }),
    ])
      output.line(line);
  return resultOf(ending, dryRun);
}

const count = (shown: readonly ReconcileView[], result: ReconcileView['result']): number =>
  shown.filter((one) => one.result === result).reduce((sum, one) => sum + one.count, 0);

/** Whether to repair; undefined without a terminal to ask at. */
async function mayRepair(
  context: CommandContext,
  { dryRun, yes }: Options,
  repairable: number,
): Promise<boolean | undefined> {
  if (dryRun || repairable === 0) return false;
  return yes || confirm(context, `Repair ${repairable}?`);
}

interface Ending {
  readonly repairable: number;
  readonly left: number;
  /** As {@link mayRepair} answers. */
  readonly asked: boolean | undefined;
  readonly refused: readonly string[];
  readonly isBelieved: boolean;
  /** Whether the safety limit keeps links that the repair would end. */
  readonly isLimited: boolean;
}

function resultOf(ending: Ending, dryRun: boolean): ExclusiveResult<ExitCode> {
  const { repairable, left, asked, refused, isBelieved, isLimited } = ending;
  const isOpen = left > 0 || isLimited || !isBelieved || refused.length > 0;
  const isUndone = !dryRun && repairable > 0 && asked !== true;
  return { value: isOpen || isUndone ? 3 : 0, isDone: !dryRun && !isUndone && isBelieved };
}

function safetyLimitLines(
  opened: ReconcileContext,
  { asked, isLimited }: Ending,
  allowShrink: boolean,
): readonly string[] {
  if (isLimited)
    return [`But the safety limit applies: no link ends until you run cvrsync review accept ${safetyLimitId(opened)}`];
  return asked === true && allowShrink
    ? ['If many links are about to end, the safety limit asks once more: see cvrsync review list.']
    : [];
}

function endingOf({ repairable, left, asked, refused }: Ending): readonly string[] {
  const lines: string[] = [];
  if (repairable === 0 && left === 0) lines.push('Nothing to repair.');
  else if (asked === true) lines.push('Repaired; the daemon reads the records and calls the service.');
  else if (repairable > 0 && asked === undefined) lines.push('Nothing was changed, because cvrsync cannot ask here.');
  else if (repairable > 0) lines.push('Nothing was changed.');
  for (const one of refused) lines.push(`The service did not drop ${one}`);
  if (left > 0) lines.push(`${left} left for you to decide.`);
  return lines;
}

/** The command that repairs what this run left, with its options; it comes last. */
function nextLines(
  context: CommandContext,
  { repairable, asked, isBelieved }: Ending,
  { provider, allowShrink, limit }: Pick<Options, 'allowShrink' | 'limit'> & { readonly provider: string },
): readonly string[] {
  const line = (shrinks: boolean): string =>
    commandLine(context, `reconcile ${provider}`, { limit, allowShrink: shrinks, yes: true });
  if (!isBelieved) return [`If a list is right although it shrank: ${line(true)}`];
  return repairable > 0 && asked !== true ? [`To repair: ${line(allowShrink)}`] : [];
}

const safetyLimitId = ({ crm }: ReconcileContext): string => `'lane/${healQueue(crm.name)}/${SAFETY_LIMIT_KEY}'`;

const EVERY_MS = 5_000;

/** Logs how far the lists were read, every five seconds. */
function progressOf(context: CommandContext): Pick<ReconcileContext, 'report' | 'waiting'> {
  let loggedAt = Date.now();
  return {
    report({ reading, count: read }) {
      if (Date.now() - loggedAt < EVERY_MS) return;
      loggedAt = Date.now();
      context.log.info(`read ${read} ${reading}`);
    },
    waiting: showWaiting(context),
  };
}
