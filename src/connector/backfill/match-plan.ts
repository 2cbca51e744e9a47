/** The plan of a match: a file that a person edits and `match --apply` follows, in the form of a backfill's. */
import { readEntries } from '../../match/index/write.ts';
import { readAccount } from '../crm/guard.ts';
import { recordAddress } from '../crm/record-id.ts';
import { PLAN_COLUMNS, planLine } from '../match/plan-line.ts';
import { resultsAt } from '../match/results.ts';
import { doubtsOf } from '../match/survey.ts';
import { writePlanFile } from './plan/write-plan.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';

const PAGE = 500;

export interface MatchPlanOptions {
  readonly file: string;
  /** The lines, in their order. */
  readonly lines: readonly number[];
  /** Those that get the action `link`; undefined if nothing is linked without a person. */
  readonly linked: readonly number[] | undefined;
  readonly language: 'en' | 'da';
}

/** Writes the results of the last match at these positions. */
export async function writeMatchPlan(
  { store: { db }, crm }: Pick<BackfillDeps, 'store' | 'crm'>,
  { file, lines, linked, language }: MatchPlanOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name: provider } = crm;
  const account = await readAccount(db, provider);
  const toLink = new Set(linked);
  let written = 0;
  await writePlanFile(file, PLAN_COLUMNS, async () => {
    signal.throwIfAborted();
    const results = await resultsAt(db, provider, lines.slice(written, written + PAGE));
    written += results.length;
    const doubts = linked === undefined ? undefined : await doubtsOf(db, provider, results);
    const numbers = results.flatMap(({ candidates }) => candidates.map(({ company }) => company));
    const entries = await readEntries(db, [...new Set(numbers)]);
    return results.map((one) => {
      const doubt = doubts?.get(one.recordId);
      const isLinked = toLink.has(one.position) && doubt === undefined;
      const page = recordAddress(crm, one.recordId, account);
      return planLine(one, { action: isLinked ? 'link' : 'skip', doubt, language, page, entries });
    });
  });
}
