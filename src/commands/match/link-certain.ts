/** `match --link-certain`: shows a random sample of the certain matches of a plan, and asks. */
import { resultsAt } from '../../connector/match/results.ts';
import { choosePositions, type PlanSurvey } from '../../connector/match/survey.ts';
import type { BackfillContext } from '../backfill/with-backfill.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { resultText } from './show.ts';

const SAMPLE = 20;
/** Short enough to type. */
const SEEDS = 100_000;

export interface LinkCertainOptions {
  readonly sample: number | undefined;
  readonly seed: number | undefined;
  readonly yes: boolean;
  readonly language: 'en' | 'da';
}

export interface CertainSample {
  /** The same seed shows the same matches. */
  readonly seed: number;
  readonly records: readonly string[];
  readonly isAccepted: boolean;
}

/** Shows the sample and asks. Throws without a terminal, unless `yes` is given. */
export async function acceptCertain(
  context: CommandContext,
  { store, crm, now }: BackfillContext,
  { linkable }: PlanSurvey,
  { sample = SAMPLE, seed = now() % SEEDS, yes, language }: LinkCertainOptions,
): Promise<CertainSample> {
  const chosen = await resultsAt(store.db, crm.name, choosePositions(linkable, sample, seed));
  const records = chosen.map(({ recordId }) => recordId);
  if (linkable.length === 0) return { seed, records, isAccepted: true };
  const all = `${linkable.length} certain ${linkable.length === 1 ? 'match' : 'matches'}`;
  if (chosen.length > 0) {
    const isPart = chosen.length < linkable.length;
    context.output.line(
      isPart ? `${chosen.length} of the ${all}, by chance (--seed ${seed} shows them again):` : `The ${all}:`,
    );
    for (const one of chosen) context.output.line(resultText(one, language));
    context.output.line();
  }
  const advice = 'leave out --link-certain and edit the plan';
  return { seed, records, isAccepted: await confirmMany(context, yes, `Let the plan link ${all}?`, advice) };
}
