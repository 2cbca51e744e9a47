/** Counts people's answers by the pattern of the match. */
import { countAnswers } from '../../match/decide/answers.ts';
import { each } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import { entityOf, type MatchedRecord } from './results.ts';

export interface MatchAnswer {
  readonly recordId: string;
  readonly entity: string;
  readonly is: 'accepted' | 'rejected';
}

/** Counts answers, or reverts the count. Rejecting a company behind the first says nothing about the first. */
export async function countMatchAnswers(
  tx: Tx,
  provider: string,
  answers: readonly MatchAnswer[],
  { now, isBack = false }: { readonly now: number; readonly isBack?: boolean },
): Promise<void> {
  if (answers.length === 0) return;
  const ids = answers.map(({ recordId }) => recordId);
  const rows = await tx
    .selectFrom('match_result')
    .select(['record_id', 'body'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, ids))
    .execute();
  const results = new Map(rows.map(({ record_id, body }): [string, MatchedRecord] => [record_id, JSON.parse(body)]));
  for (const { recordId, entity, is } of answers) {
    const found = results.get(recordId);
    if (found?.pattern === undefined) continue;
    const isFirst = entityOf(found) === entity;
    if (is === 'rejected' && !isFirst) continue;
    const kind = is === 'accepted' && isFirst ? 'accepted' : 'refused';
    await countAnswers(tx, { pattern: found.pattern, kind, by: isBack ? -1 : 1 }, now);
  }
}
