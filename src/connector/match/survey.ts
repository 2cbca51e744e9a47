/**
 * Surveys the results of a match before its plan is written: the order of the lines, and the matches that may be
 * linked.
 */
import type { Confidence } from '../../match/decide/confidence.ts';
import { randomFrom } from '../../protocol/sample/random.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { entityOf, type MatchedRecord, resultsAfter, sharedEntities } from './results.ts';

/** Positions of records in the scan. */
export interface PlanSurvey {
  readonly lines: readonly number[];
  /** Certain matches without a conflict with another record. */
  readonly linkable: readonly number[];
}

/** The order in a plan: what is linked first, then what a person decides. */
const ORDER: readonly Confidence[] = ['certain', 'likely', 'ambiguous', 'dissolved', 'foreign', 'person', 'none'];
const PAGE = 500;

/** `limit` drops the last lines. */
export async function surveyResults(db: Db, provider: string, limit: number, signal: AbortSignal): Promise<PlanSurvey> {
  const found: { readonly position: number; readonly rank: number; readonly score: number; readonly weight: number }[] =
    [];
  const linkable = new Set<number>();
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const page = await resultsAfter(db, provider, { after, limit: PAGE });
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.position;
    const doubts = await doubtsOf(db, provider, page);
    for (const { recordId, position, confidence, candidates } of page) {
      found.push({
        position,
        rank: ORDER.indexOf(confidence),
        score: candidates[0]?.score ?? 0,
        weight: candidates[0]?.weight ?? 0,
      });
      if (confidence === 'certain' && !doubts.has(recordId)) linkable.add(position);
    }
  }
  found.sort((a, b) => a.rank - b.rank || b.score - a.score || b.weight - a.weight || a.position - b.position);
  const lines = found.slice(0, limit).map(({ position }) => position);
  return { lines, linkable: lines.filter((position) => linkable.has(position)) };
}

/** Picks random positions and keeps their order; the same seed picks the same ones. */
export function choosePositions(positions: readonly number[], count: number, seed: number): readonly number[] {
  const random = randomFrom(seed);
  let wanted = Math.min(count, positions.length);
  return positions.filter((_, at) => {
    const isChosen = random.int(1, positions.length - at) <= wanted;
    if (isChosen) wanted -= 1;
    return isChosen;
  });
}

/** Why certain matches need a person, by record. */
export async function doubtsOf(
  db: Db,
  provider: string,
  page: readonly MatchedRecord[],
): Promise<ReadonlyMap<string, string>> {
  const entities = page.flatMap((one) => entityOf(one) ?? []);
  const shared = await sharedEntities(db, provider, entities);
  const links = await db
    .selectFrom('link')
    .select(['entity', 'record_id'])
    .where('provider', '=', provider)
    .where('entity', 'in', each(db, entities))
    .where('state', 'in', ['active', 'conflict'])
    .execute();
  const taken = new Map(links.map((link) => [link.entity, link.record_id]));
  return new Map(
    page.flatMap((one): readonly (readonly [string, string])[] => {
      const entity = entityOf(one) ?? '';
      const other = taken.get(entity);
      if (other !== undefined) return [[one.recordId, `record ${other} stands for this company already`]];
      return shared.has(entity) ? [[one.recordId, 'several records mean this company']] : [];
    }),
  );
}
