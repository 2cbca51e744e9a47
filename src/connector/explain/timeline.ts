/** A company's timeline from the store: events, facts, decisions, and the current state. */
import { sql } from 'kysely';
import type { FieldName, FieldValue } from '../../../providers/fields.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { isEventName } from '../../protocol/events.ts';
import { readPayload, type WireOptions } from '../../protocol/payload.ts';
import { type AuditRow, readAuditOf, type SubjectRange } from '../../runtime/operators/audit.ts';
import { jsonOrText } from '../../store/each.ts';
import type { NoteTable } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import { type Fact, fold, visible } from '../facts/fact.ts';
import { readFacts } from '../facts/facts.ts';
import { linesOf } from '../history/history-lines.ts';
import { datedBy } from '../intake/ahead.ts';
import { requestIn } from '../intake/receipt.ts';
import { type Override, readOverrides } from '../overrides/override.ts';
import { idOf } from '../review/review-kinds.ts';
import { RECORD_QUEUES, readLanes, type TimelineLane } from './timeline-lanes.ts';
import { readLinks, type TimelineLink } from './timeline-links.ts';

/** An accepted webhook. `events`, `changed` and `stale` are empty after its body was pruned. */
export interface TimelineReceipt {
  readonly seq: number;
  /** The name in the log; undefined for an event that `receive` read from a file. */
  readonly request: string | undefined;
  readonly timestamp: string;
  readonly receivedAt: number;
  readonly appliedAt: number | null;
  readonly pruned: boolean;
  readonly events: readonly string[];
  readonly quarantined: string | null;
  readonly malformed: readonly string[];
  readonly changed: readonly FieldName[];
  /** Fields with newer known values: recorded, not applied. */
  readonly stale: readonly FieldName[];
}

export interface TimelineFact {
  readonly field: FieldName;
  readonly value: FieldValue;
  readonly clock: string;
  readonly seq: number;
  /** For lists: false until a payload has stated all members; until then no CRM gets it. */
  readonly complete?: boolean;
}

export interface TimelineDecision {
  readonly at: number;
  readonly provider: string;
  readonly record: string;
  readonly field: string | null;
  readonly property: string | null;
  readonly seq: number;
  readonly rule: string;
  readonly old: unknown;
  readonly new: unknown;
  readonly outcome: string;
  readonly detail: string | null;
}

export interface TimelineSetAside {
  readonly provider: string;
  readonly record: string;
  readonly property: string;
  readonly value: unknown;
  readonly reason: string | null;
  /** The CRM's value, which stays; null if unknown. */
  readonly stays: string | null;
}

export interface TimelineOverride extends Override {
  readonly provider: string;
  readonly record: string;
  readonly property: string;
}

export interface Timeline {
  readonly entity: string;
  readonly links: readonly TimelineLink[];
  readonly receipts: readonly TimelineReceipt[];
  readonly facts: readonly TimelineFact[];
  /** Oldest first. */
  readonly history: readonly TimelineDecision[];
  readonly overrides: readonly TimelineOverride[];
  readonly setAside: readonly TimelineSetAside[];
  readonly lanes: readonly TimelineLane[];
  /** Newest first. */
  readonly notes: readonly TimelineNote[];
  /** Newest first. */
  readonly actions: readonly TimelineAction[];
}

export interface TimelineOptions extends WireOptions {
  readonly now: number;
  readonly record?: { readonly provider: string; readonly id: string };
  /** Most decisions, and most receipts, newest first. */
  readonly limit: number;
  readonly until?: number | undefined;
}

/** Of the record's link in any state; undefined without one. */
export async function entityOf(db: Db, provider: string, record: string): Promise<string | undefined> {
  const link = await db
    .selectFrom('link')
    .select('entity')
    .where('provider', '=', provider)
    .where('record_id', '=', record)
    .executeTakeFirst();
  return link?.entity;
}

/** Undefined if nothing is known of the company. Some indexed reads. */
export async function readTimeline(db: Db, entity: string, options: TimelineOptions): Promise<Timeline | undefined> {
  const links = await readLinks(db, entity, options.record);
  const receipts = await readReceipts(db, entity, options);
  const facts = (await readFacts(db, [entity])).map(timelineFact).sort((a, b) => (a.field < b.field ? -1 : 1));
  const history = await readHistory(db, entity, options);
  if (links.length + receipts.length + facts.length + history.length === 0) return undefined;
  const setAside = await readSetAside(db, links);
  const overrides = await readAllOverrides(db, links, options.now);
  return {
    entity,
    links,
    receipts,
    facts,
    history,
    overrides,
    setAside,
    lanes: await readLanes(db, entity, links, options.now),
    notes: await readNotes(db, links, options),
    actions: await readActions(db, { entity, links }, options),
  };
}

/**
 * Folds the receipts again, in order, to show what each changed. Facts before the oldest receipt, or from pruned ones,
 * are unknown, so the first mention of a field counts as a change.
 */
async function readReceipts(db: Db, entity: string, options: TimelineOptions): Promise<readonly TimelineReceipt[]> {
  const rows = await db
    .selectFrom('receipt')
    .select(['seq', 'timestamp', 'received_at', 'applied_at', 'body', 'quarantined', 'webhook_id', 'digest'])
    .where('entity', '=', entity)
    .$if(options.until !== undefined, (query) => query.where('received_at', '<=', options.until ?? 0))
    .orderBy('seq', 'desc')
    .limit(options.limit)
    .execute();
  const facts = new Map<FieldName, Fact>();
  return rows.reverse().map(({ seq, timestamp, received_at, applied_at, body, quarantined, ...names }) => {
    const request = requestIn(names);
    const base = {
      seq,
      request,
      timestamp,
      receivedAt: received_at,
      appliedAt: applied_at,
      pruned: body === null,
      quarantined,
    };
    const read = body === null ? undefined : readPayload(JSON.parse(body), options);
    if (read?.ok !== true) return { ...base, events: [], malformed: [], changed: [], stale: [] };
    const { payload } = read;
    const events = [...Object.keys(payload.updates).filter(isEventName), ...Object.keys(payload.unknown)];
    const malformed = [...new Set(payload.malformed.map(({ event }) => event))];
    const folds = datedBy({ ...payload, timestamp }, received_at).assertions.map((assertion) => {
      const folded = fold(facts.get(assertion.field), entity, assertion, seq);
      facts.set(assertion.field, folded.fact);
      return { field: assertion.field, changed: folded.changed, stale: folded.stale };
    });
    const fieldsThat = (is: 'changed' | 'stale') => [
      ...new Set(folds.filter((each) => each[is] && each.field !== 'registerChangedAt').map(({ field }) => field)),
    ];
    return { ...base, events, malformed, changed: fieldsThat('changed'), stale: fieldsThat('stale') };
  });
}

function timelineFact({ field, value, clock, seq }: Fact): TimelineFact {
  if ('scalar' in value) return { field, value: value.scalar, clock, seq };
  const { members, complete } = visible(value.list);
  return { field, value: members, clock, seq, complete };
}

async function readHistory(
  db: Db,
  entity: string,
  { record, limit, until }: TimelineOptions,
): Promise<readonly TimelineDecision[]> {
  let query = db.selectFrom('history').selectAll().where('entity', '=', entity).orderBy('id', 'desc').limit(limit);
  if (until !== undefined) query = query.where('at', '<=', until);
  if (record !== undefined) query = query.where('provider', '=', record.provider).where('record_id', '=', record.id);
  const rows = await query.execute();
  // As many lines as requested rows: with fewer, a reader would take the list for complete.
  const lines = rows.reverse().flatMap(linesOf).slice(-limit);
  return lines.map(({ id: _id, entity: _entity, record_id, now, ...line }) => ({
    ...line,
    record: record_id,
    new: now,
  }));
}

async function readSetAside(db: Db, links: readonly TimelineLink[]): Promise<readonly TimelineSetAside[]> {
  const setAside: TimelineSetAside[] = [];
  // By the whole key: by record id alone, the refused values of all CRMs would be read.
  for (const { provider, record } of links) {
    const rows = await db
      .selectFrom('property_state')
      .select(['property', 'refused', 'refused_reason', 'refused_over'])
      .where('provider', '=', provider)
      .where('record_id', '=', record)
      .where('refused', 'is not', null)
      .orderBy('property')
      .execute();
    for (const { property, refused, refused_reason: reason, refused_over: stays } of rows)
      setAside.push({ provider, record, property, value: jsonOrText(refused), reason, stays });
  }
  return setAside;
}

async function readAllOverrides(
  db: Db,
  links: readonly TimelineLink[],
  now: number,
): Promise<readonly TimelineOverride[]> {
  const overrides: TimelineOverride[] = [];
  for (const { provider, record } of links) {
    const own = (await readOverrides(db, provider, [record], now)).get(record) ?? [];
    for (const [property, override] of own) overrides.push({ provider, record, property, ...override });
  }
  return overrides;
}

type TimelineAction = Pick<AuditRow, 'at' | 'actor' | 'via' | 'action' | 'subject' | 'result'>;

async function readActions(
  db: Db,
  { entity, links }: { readonly entity: string; readonly links: readonly TimelineLink[] },
  { limit, until }: { readonly limit: number; readonly until?: number | undefined },
): Promise<readonly TimelineAction[]> {
  const rows = await readAuditOf(db, subjectsOf(entity, links), { limit, until });
  return rows.map(({ at, actor, via, action, subject, result }) => ({ at, actor, via, action, subject, result }));
}

/** The subjects of audit entries: commands use arguments, answers use review ids. */
function subjectsOf(entity: string, links: readonly TimelineLink[]): readonly SubjectRange[] {
  const names = [entity, parseEntityId(entity)?.number ?? entity];
  const connections = [...new Set(links.map(({ provider }) => provider))];
  return [
    ...names.map((name) => ({ is: name, before: ' ' })),
    ...connections.flatMap((provider) => names.map((name) => ({ is: `${provider} ${name}`, before: ' ' }))),
    ...links.flatMap(({ provider, record }) => [
      { is: `${provider}:${record}`, before: ' ' },
      ...(['difference', 'value', 'link', 'match'] as const).map((kind) => ({
        is: idOf(kind, provider, record),
        before: '/',
      })),
      ...RECORD_QUEUES.map((queue) => ({
        is: idOf('lane', `${queue}:${provider}`, record),
        before: '/',
      })),
    ]),
  ];
}

interface TimelineNote {
  readonly provider: string;
  readonly record: string;
  readonly subject: string;
  readonly seq: number;
  /** When it was left; before that, the time of its event. */
  readonly at: number;
  /** `dropped`: the record is gone, or the CRM refused the note. */
  readonly state: NoteTable['state'];
}

async function readNotes(
  db: Db,
  links: readonly TimelineLink[],
  { limit, until = Number.MAX_SAFE_INTEGER }: { readonly limit: number; readonly until?: number | undefined },
): Promise<readonly TimelineNote[]> {
  const notes: TimelineNote[] = [];
  for (const { provider, record } of links) {
    const at = sql<number>`coalesce(done_at, at)`;
    const rows = await db
      .selectFrom('note')
      .select(['subject', 'seq', 'state', at.as('at')])
      .where('provider', '=', provider)
      .where('record_id', '=', record)
      .where(at, '<=', until)
      .orderBy(at, 'desc')
      .limit(limit)
      .execute();
    notes.push(...rows.map((row) => ({ ...row, provider, record })));
  }
  return notes.toSorted((a, b) => b.at - a.at).slice(0, limit);
}
