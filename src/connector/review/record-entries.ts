/** What needs a person of single records: links in conflict or refused, values set aside, and companies suggested. */
import { sql } from 'kysely';
import { reasonText } from '../../match/evidence/weights.ts';
import { countRows } from '../../store/count.ts';
import type { Db } from '../../store/store.ts';
import { isInState, type Link } from '../links/links.ts';
import type { MatchedRecord } from '../match/results.ts';
import { undecided } from '../match/undecided.ts';
import { revisionOf } from '../names/revision.ts';
import { linkRevision } from './entry-revision.ts';
import { DECISION, FAILED, idOf, type ReviewSource } from './review-kinds.ts';

const conflicts = (db: Db) => db.selectFrom('link').where(isInState('conflict'));

const refusedLinks = (db: Db) =>
  db
    .selectFrom('link')
    .where('state', '=', 'active')
    .where('desired', '=', 'on')
    // Not as a parameter: SQLite would not know that the index of refused ones will do.
    .where('observed', '=', sql.lit<'refused'>('refused'));

const shownLink = (link: Link) => ({
  id: idOf('link', link.provider, link.record_id),
  kind: 'link' as const,
  about: `${link.provider}:${link.record_id} ${link.entity}`,
  since: link.updated_at,
  revision: linkRevision(link),
});

/** Two reads of an index each: one condition over both would read every link. */
export const LINK_SOURCES: readonly ReviewSource[] = [
  {
    kind: 'link',
    async read(db, _now, limit) {
      const rows = await conflicts(db).selectAll().orderBy('provider').orderBy('record_id').limit(limit).execute();
      return rows.map((link) => ({
        ...shownLink(link),
        reason: `in conflict: ${link.reason ?? 'two companies claim the record'}`,
        advice: `accept makes the link count, and writes what the register says of ${link.entity}; keep leaves the record as it is, and removes the link`,
        decides: true,
        verbs: DECISION,
      }));
    },
    count: (db, most) => countRows(db, conflicts(db).select('record_id').limit(most)),
  },
  {
    kind: 'link',
    async read(db, _now, limit) {
      const rows = await refusedLinks(db).selectAll().orderBy('provider').orderBy('record_id').limit(limit).execute();
      return rows.map((link) => ({
        ...shownLink(link),
        reason: `the monitoring service refused it: ${link.observed_error ?? 'without a reason'}`,
        advice: 'retry asks the service again; drop removes the link',
        decides: false,
        verbs: FAILED,
      }));
    },
    count: (db, most) => countRows(db, refusedLinks(db).select('record_id').limit(most)),
  },
];

const refusedValues = (db: Db) =>
  db
    .selectFrom('property_state as state')
    .where('refused', 'is not', null)
    // Not a join: SQLite might begin with the links, which are many.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('link')
          .select('link.record_id')
          .whereRef('link.provider', '=', 'state.provider')
          .whereRef('link.record_id', '=', 'state.record_id')
          .where('link.state', '=', 'active'),
      ),
    );

const UNFIT = 'correct the property or the mapping, then retry; drop hides it until it is set aside again';
const REFUSED =
  'cvrsync tries it again with the next event and once a day; retry tries it at once; drop hides it until it is refused again';

export const VALUE_SOURCE: ReviewSource = {
  kind: 'value',
  async read(db, _now, limit) {
    const rows = await refusedValues(db)
      .select(['provider', 'record_id', 'property', 'refused', 'refused_reason', 'refused_over', 'refused_until'])
      .orderBy('provider')
      .orderBy('property')
      .orderBy('record_id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      id: idOf('value', row.provider, row.record_id, row.property),
      kind: 'value',
      about: `${row.provider}:${row.record_id} ${row.property} = ${row.refused}`,
      reason: `${row.refused_reason ?? 'the CRM would not take it'}${shownStay(row.refused_over)}`,
      since: null,
      advice: row.refused_until === null ? UNFIT : REFUSED,
      decides: false,
      verbs: FAILED,
    }));
  },
  count: (db, most) => countRows(db, refusedValues(db).select('record_id').limit(most)),
};

/** What the property holds as long as a new value is refused; `over` is JSON. */
export function shownStay(over: string | null): string {
  if (over === null) return '';
  return over === 'null' ? '; the property stays blank in the CRM' : `; ${over} stays in the CRM`;
}

const suggestions = (db: Db) => undecided(db).where('suggested_at', 'is not', null);

/** Companies that are suggested for records without a number. */
export const MATCH_SOURCE: ReviewSource = {
  kind: 'match',
  async read(db, _now, limit) {
    const rows = await suggestions(db)
      .select(['provider', 'record_id', 'body', 'suggested_at'])
      .orderBy('provider')
      .orderBy('record_id')
      .limit(limit)
      .execute();
    return rows.flatMap(({ provider, record_id, body, suggested_at: since }) => {
      const { record, confidence, candidates }: MatchedRecord = JSON.parse(body);
      const [best] = candidates;
      if (best === undefined) return [];
      const reasons = best.findings.map((finding) => reasonText(finding, 'en')).join('; ');
      return {
        id: idOf('match', provider, record_id),
        kind: 'match',
        about: `${provider}:${record_id} ${record.name ?? ''}`.trimEnd(),
        reason: `it has no CVR number, and is ${confidence === 'certain' ? 'certainly' : 'likely'} ${best.name}, ${best.company}: ${reasons}`,
        since,
        advice: 'accept links it and writes the number; keep leaves it alone, and this company is not suggested again',
        decides: true,
        verbs: DECISION,
        revision: revisionOf(best.company),
      };
    });
  },
  count: (db, most) => countRows(db, suggestions(db).select('record_id').limit(most)),
};
