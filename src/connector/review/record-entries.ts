/** What needs a person of single records: links in conflict or refused, values set aside, and companies suggested. */
import { sql } from 'kysely';
import { reasonText } from '../../match/evidence/weights.ts';
import { hasRow } from '../../store/has-row.ts';
import type { Db } from '../../store/store.ts';
import { ACTIVE_LINK } from '../history/difference-rows.ts';
import { isInState, type Link } from '../links/links.ts';
import type { MatchedRecord } from '../match/results.ts';
import { undecided } from '../match/undecided.ts';
import { revisionOf } from '../names/revision.ts';
import { linkRevision } from './entry-revision.ts';
import {
  DECISION,
  type EntryPlace,
  type EntryRange,
  FAILED,
  idOf,
  partsOf,
  type ReviewEntry,
  type ReviewSource,
} from './review-kinds.ts';

const conflicts = (db: Db, { provider, after }: EntryRange = {}) =>
  db
    .selectFrom('link')
    .where(isInState('conflict'))
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .$if(after !== undefined, (query) => query.where(isBehind(after)));

const refusedLinks = (db: Db, { provider, after }: EntryRange = {}) =>
  db
    .selectFrom('link')
    .where('state', '=', 'active')
    .where('desired', '=', 'on')
    // Not as a parameter: SQLite would not know that the index of refused ones will do.
    .where('observed', '=', sql.lit<'refused'>('refused'))
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .$if(after !== undefined, (query) => query.where(isBehind(after)));

/** In the order of connection and record. */
const isBehind = (after: EntryPlace | undefined) => {
  const [provider = '', recordId = ''] = partsOf(after) ?? [];
  return sql<boolean>`(provider, record_id) > (${provider}, ${recordId})`;
};

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
    async read(db, _now, limit, part) {
      const rows = await conflicts(db, part)
        .selectAll()
        .orderBy('provider')
        .orderBy('record_id')
        .limit(limit)
        .execute();
      return rows.map((link) => ({
        ...shownLink(link),
        reason: `in conflict: ${link.reason ?? 'two companies claim the record'}`,
        advice: `accept confirms the link, and writes what the register says about ${link.entity}; keep leaves the record as it is, and removes the link`,
        decides: true,
        verbs: DECISION,
      }));
    },
    waiting: (db, _now, provider) => conflicts(db, { provider }).select('updated_at as since'),
  },
  {
    kind: 'link',
    async read(db, _now, limit, part) {
      const rows = await refusedLinks(db, part)
        .selectAll()
        .orderBy('provider')
        .orderBy('record_id')
        .limit(limit)
        .execute();
      return rows.map((link) => ({
        ...shownLink(link),
        reason: `the monitoring service refused it: ${link.observed_error ?? 'without a reason'}`,
        advice: 'retry asks the service again; drop removes the link',
        decides: false,
        verbs: FAILED,
      }));
    },
    waiting: (db, _now, provider) => refusedLinks(db, { provider }).select('updated_at as since'),
  },
];

const refusedValues = (db: Db, { provider, after }: EntryRange = {}) =>
  db
    .selectFrom('property_state as state')
    .where('refused', 'is not', null)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .$if(after !== undefined, (query) => {
      const [connection = '', recordId = '', property = ''] = partsOf(after) ?? [];
      return query.where(
        sql<boolean>`(state.provider, state.property, state.record_id) > (${connection}, ${property}, ${recordId})`,
      );
    })
    // Not a join: SQLite might begin with the links, which are many.
    .where(hasRow(ACTIVE_LINK));

const UNFIT = 'correct the property or the mapping, then retry; drop hides it until it is set aside again';
const REFUSED =
  'cvrsync tries it again with the next event and once a day; retry tries it at once; drop hides it until it is refused again';

export const VALUE_SOURCE: ReviewSource = {
  kind: 'value',
  async read(db, _now, limit, part) {
    const rows = await refusedValues(db, part)
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
      reason: `${row.refused_reason ?? 'the CRM refused it'}${shownStay(row.refused_over)}`,
      since: null,
      advice: row.refused_until === null ? UNFIT : REFUSED,
      decides: false,
      verbs: FAILED,
    }));
  },
  waiting: (db, _now, provider) => refusedValues(db, { provider }).select(sql<null>`null`.as('since')),
};

/** What the property holds as long as a new value is refused; `over` is JSON. */
export function shownStay(over: string | null): string {
  if (over === null) return '';
  return over === 'null' ? '; the property stays blank in the CRM' : `; ${over} stays in the CRM`;
}

const found = (db: Db, { provider, after }: EntryRange = {}) =>
  undecided(db)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .$if(after !== undefined, (query) => query.where(isBehind(after)));

/** Companies that are suggested for records without a number. */
export const MATCH_SOURCE: ReviewSource = {
  kind: 'match',
  read: (db, _now, limit, part) => readMatches(found(db, part).where('suggested_at', 'is not', null), limit),
  waiting: (db, _now, provider) =>
    found(db, { provider }).where('suggested_at', 'is not', null).select('suggested_at as since'),
};

/** The same with those that a person asked for, which raise no alert: they are answered record by record. */
export const UNDECIDED_SOURCE: ReviewSource = {
  kind: 'match',
  read: (db, _now, limit, part) => readMatches(found(db, part), limit),
  waiting: (db, _now, provider) => found(db, { provider }).select('suggested_at as since'),
};

async function readMatches(query: ReturnType<typeof undecided>, limit: number): Promise<readonly ReviewEntry[]> {
  const rows = await query
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
      kind: 'match' as const,
      about: `${provider}:${record_id} ${record.name ?? ''}`.trimEnd(),
      reason: `it has no CVR number, and is ${confidence === 'certain' ? 'certainly' : 'likely'} ${best.name}, ${best.company}: ${reasons}`,
      since,
      advice: 'accept links it and writes the number; keep leaves it alone, and this company is not suggested again',
      decides: true,
      verbs: since === null ? [] : DECISION,
      revision: revisionOf(best.company),
    };
  });
}
