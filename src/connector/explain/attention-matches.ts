/** What needs a person of records without a number: the company that is suggested for each. */
import { reasonText } from '../../match/weights.ts';
import { countRows } from '../../store/count.ts';
import type { Db } from '../../store/open.ts';
import type { MatchedRecord } from '../match/results.ts';
import { undecided } from '../match/undecided.ts';
import { type AttentionSource, DECISION, idOf } from './attention-kinds.ts';
import { sightOf } from './sight.ts';

const suggestions = (db: Db) => undecided(db).where('suggested_at', 'is not', null);

export const MATCH_SOURCE: AttentionSource = {
  kind: 'match',
  async read(db, _now, limit) {
    const rows = await suggestions(db)
      .select(['provider', 'record_id', 'body', 'suggested_at'])
      .orderBy('provider')
      .orderBy('record_id')
      .limit(limit)
      .execute();
    return rows.flatMap(({ provider, record_id, body, suggested_at: since }) => {
      const { record, verdict, candidates }: MatchedRecord = JSON.parse(body);
      const [best] = candidates;
      if (best === undefined) return [];
      const reasons = best.findings.map((finding) => reasonText(finding, 'en')).join('; ');
      return {
        id: idOf('match', provider, record_id),
        kind: 'match',
        about: `${provider}:${record_id} ${record.name ?? ''}`.trimEnd(),
        reason: `it has no CVR number, and is ${verdict === 'certain' ? 'certainly' : 'likely'} ${best.name}, ${best.company}: ${reasons}`,
        since,
        advice: 'accept links it and writes the number; keep leaves it alone, and this company is not suggested again',
        decides: true,
        verbs: DECISION,
        sight: sightOf(best.company),
      };
    });
  },
  count: (db, most) => countRows(db, suggestions(db).select('record_id').limit(most)),
};
