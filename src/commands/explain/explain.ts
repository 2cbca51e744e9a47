/** `explain`: shows one company's timeline, from the received webhooks to what each record holds and why. */

import type { PresetRow } from '../../../providers/provider.ts';
import type { ConnectorConfig } from '../../config/load.ts';
import { wireOf } from '../../config/load.ts';
import { writtenProperties } from '../../connector/decide/plan.ts';
import { entityOf, readTimeline, type Timeline } from '../../connector/explain/timeline.ts';
import { type RecordRef, readLinkKey } from '../../connector/names/queues.ts';
import { ALL_PROPERTIES } from '../../connector/overrides/override.ts';
import { shownStay } from '../../connector/review/record-entries.ts';
import { entityIdIn } from '../../protocol/cvr-number.ts';
import type { Db } from '../../store/store.ts';
import { nameIn, readRecord } from '../arguments/record-argument.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, needed, optional, positive, UsageError } from '../cli/command.ts';
import type { Output } from '../cli/output.ts';
import { unheardOf } from '../monitoring/unheard-of.ts';
import { answerLines, type ExplainedRecord } from './answer.ts';
import { readNow } from './read-now.ts';

export const command = defineCommand({
  name: 'explain',
  examples: ['explain CVR-1-10000001', 'explain hubspot:1234567890 name'],
  about: 'show what a record holds and why, then the timeline of its company',
  args: {
    subject: needed(
      'a company (CVR-1-12345678 or its CVR number) or a record (hubspot:123, or its address in the CRM)',
    ),
    property: optional('show only this property of the CRM'),
  },
  options: { limit: positive('show at most this many decisions and this many events, the newest ones (default 50)') },
  run: async (context, { subject, property }, { limit = 50 }) => {
    const config = await context.config([]);
    const connector = config.connector ?? { providers: [] };
    const read = async (db: Db): Promise<Timeline | undefined> => {
      const options = { ...wireOf(config), now: Date.now(), limit };
      const entity = entityIdIn(subject);
      if (entity !== undefined) return readTimeline(db, entity, options);
      const { provider, recordId: id } = recordIn(subject, connector);
      const linked = await entityOf(db, provider, id);
      return linked === undefined ? undefined : readTimeline(db, linked, { ...options, record: { provider, id } });
    };
    return withStore<ExitCode>(context, async (store) => {
      const timeline = await read(store.db);
      if (timeline === undefined)
        throw new Error(
          `${subject} has no link and no event: see cvrsync links, or link it with cvrsync monitoring add`,
        );
      if (property !== undefined) needMapped(timeline, connector, property);
      const emptiness = isAwaited(timeline)
        ? ((await unheardOf(context, store.db, timeline.entity)) ?? noEvent(timeline))
        : '';
      const records = await readNow(context, store, timeline, property);
      const shown = property === undefined ? timeline : onlyOf(timeline, connector, property);
      context.output.result(
        { ...shown, records },
        textOf(shown, emptiness, answersTo(records, timeline, property), context.output.time),
      );
      return 0;
    });
  },
});

/** The record of a text, by connection and id if the connection is no longer configured. */
function recordIn(subject: string, connector: Pick<ConnectorConfig, 'providers'>): RecordRef {
  const ref = readLinkKey(subject);
  const isKnown = connector.providers.some(({ name }) => name === nameIn(ref.provider, connector));
  if (isKnown || /^https?:/iu.test(subject)) return readRecord(subject, connector);
  if (!subject.includes(':') || ref.provider === '' || ref.recordId === '')
    throw new UsageError(
      `${subject} is neither an entity id such as CVR-1-12345678, nor a record such as hubspot:123 or its address in the CRM`,
    );
  return ref;
}

/** Throws {@link UsageError} if no record of the timeline is in a connection that writes the property. */
function needMapped({ links }: Timeline, { providers }: Pick<ConnectorConfig, 'providers'>, property: string): void {
  const names = writtenProperties(mappingOf(links, providers));
  if (names.some((name) => name.toLowerCase() === property.toLowerCase())) return;
  throw new UsageError(`no record here has the property ${property}: cvrsync writes ${names.join(', ')}`);
}

const mappingOf = (links: Timeline['links'], providers: ConnectorConfig['providers']): readonly PresetRow[] =>
  providers.filter(({ name }) => links.some(({ provider }) => provider === name)).flatMap(({ mapping }) => mapping);

/** The timeline without the events, facts, decisions and overrides of other properties. */
function onlyOf(timeline: Timeline, { providers }: Pick<ConnectorConfig, 'providers'>, property: string): Timeline {
  const isNamed = (name: string): boolean => name.toLowerCase() === property.toLowerCase();
  const isMeant = (each: { readonly property: string | null }): boolean =>
    each.property === null || each.property === ALL_PROPERTIES || isNamed(each.property);
  const { receipts, facts, history, overrides, setAside } = timeline;
  const rows = mappingOf(timeline.links, providers).filter((row) => isNamed(row.property));
  const fields = new Set<string>(rows.map(({ field }) => field));
  return {
    ...timeline,
    receipts: receipts.filter(({ changed, stale }) => [...changed, ...stale].some((field) => fields.has(field))),
    facts: facts.filter(({ field }) => fields.has(field)),
    history: history.filter(isMeant),
    overrides: overrides.filter(isMeant),
    setAside: setAside.filter(isMeant),
  };
}

const answersTo = (
  records: readonly ExplainedRecord[],
  timeline: Timeline,
  property: string | undefined,
): readonly string[] =>
  records.flatMap((record) =>
    section(
      `${record.provider}:${record.recordId}${property === undefined ? '' : ` ${property}`}`,
      answerLines(record, timeline, property),
    ),
  );

/** Whether the company is linked and has had no event yet. */
const isAwaited = ({ links, facts }: Timeline): boolean =>
  facts.length === 0 && links.some(({ state }) => state === 'active');

function noEvent({ entity, links }: Timeline): string {
  const { provider = 'PROVIDER', record = 'RECORD_ID' } = links.find(({ state }) => state === 'active') ?? {};
  return `No event with data has arrived: cvrsync writes nothing until one does. cvrsync monitoring add ${provider} ${entity} ${record} --send-update requests the whole company.`;
}

type Time = Output['time'];

/** The timeline for people, after the answers; `emptiness` says why an expected fact is missing. */
function textOf(timeline: Timeline, emptiness: string, answers: readonly string[], time: Time): string {
  return [
    timeline.entity,
    ...answers,
    ...section(
      'Links',
      timeline.links.map((each) => linkLine(each, time)),
    ),
    ...section(
      'Events received',
      timeline.receipts.map((each) => receiptLine(each, time)),
    ),
    ...section('Facts now', emptiness === '' ? timeline.facts.map(factLine) : [emptiness]),
    ...[...Map.groupBy(timeline.history, ({ provider, record }) => `${provider}:${record}`)].flatMap(
      ([record, decisions]) =>
        section(
          record === ':' ? 'Facts forgotten' : `Decisions for ${record}`,
          decisions.map((each) => decisionLine(each, time)),
        ),
    ),
    ...section(
      'Overrides',
      timeline.overrides.map((each) => overrideLine(each, time)),
    ),
    ...section(
      'Set quarantined',
      timeline.setAside.map(
        (each) =>
          `${each.provider}:${each.record} ${each.property}: ${each.reason ?? ''}${shownStay(each.stays)} (see cvrsync review)`,
      ),
    ),
    ...section(
      'Notes',
      timeline.notes.map((each) => noteLine(each, time)),
    ),
    ...section(
      'By hand',
      timeline.actions.map((each) => actionLine(each, time)),
    ),
    ...section(
      'Not done yet',
      timeline.lanes.map((each) => laneLine(each, time)),
    ),
  ].join('\n');
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line.replaceAll(/\p{Cc}+/gu, ' ')}`)];

function linkLine(link: Timeline['links'][number], time: Time): string {
  const state = link.reason === null ? link.state : `${link.state} (${link.reason})`;
  const refused = link.observedError === null ? '' : ` (${link.observedError})`;
  const synced =
    link.syncedAt === null ? 'never synced' : `synced ${time(link.syncedAt)} up to event ${link.syncedSeq}`;
  const trust = link.trust === 'register' ? ', trusts the register once for each property' : '';
  return `${link.provider}:${link.record}  ${state}${trust}, monitoring desired ${link.desired}, observed ${link.observed}${refused}, ${synced}`;
}

function overrideLine(
  { provider, record, property, kind, once, until, reason, createdAt, ...placed }: Timeline['overrides'][number],
  time: Time,
): string {
  const what = property === ALL_PROPERTIES ? 'all properties' : property;
  const how = kind === 'hold' ? 'nothing is written' : `the register wins${once ? ' once' : ''}`;
  const end = until === null ? '' : ` until ${time(until)}`;
  return `${provider}:${record} ${what}: ${kind}, ${how}${end}, since ${time(createdAt)}${placedText(placed)}${reason === null ? '' : `: ${reason}`}`;
}

const ORIGINS = { person: '', review: 'an answer in review', undo: 'undo' } as const;

function placedText({ origin = 'person', placedBy, placedVia }: Partial<Timeline['overrides'][number]>): string {
  const who = placedBy == null ? '' : `${placedBy} (${placedVia ?? ''})`;
  const by = [ORIGINS[origin], who].filter((part) => part !== '').join(' of ');
  return by === '' ? '' : `, placed by ${by}`;
}

function receiptLine(receipt: Timeline['receipts'][number], time: Time): string {
  const { seq, request, timestamp, receivedAt, appliedAt, pruned, quarantined, events, malformed, changed, stale } =
    receipt;
  const parts = [
    appliedAt === null ? 'not applied yet' : undefined,
    pruned ? 'body no longer kept' : events.length === 0 ? 'no known event' : events.join(', '),
    changed.length === 0 ? undefined : `changed ${changed.join(', ')}`,
    stale.length === 0 ? undefined : `older than what was known: ${stale.join(', ')}`,
    quarantined === null ? undefined : `quarantined (see cvrsync review): ${quarantined}`,
    malformed.length === 0 ? undefined : `could not read ${malformed.join(', ')}`,
    request === undefined ? undefined : `request ${request}`,
  ];
  return `${seq}  of ${timestamp}, received ${time(receivedAt)}: ${parts.filter((part) => part !== undefined).join('; ')}`;
}

function factLine({ field, value, clock, seq, complete }: Timeline['facts'][number]): string {
  const partly = complete === false ? '; only partly known, so it is not written' : '';
  return `${field} = ${shown(value)}  (${clock}, event ${seq}${partly})`;
}

function decisionLine(decision: Timeline['history'][number], time: Time): string {
  const { at, field, property, seq, rule, outcome, detail } = decision;
  const what = property === null ? '' : ` ${field} → ${property}: ${shown(decision.old)} → ${shown(decision.new)}`;
  const from = seq > 0 ? `, event ${seq}` : '';
  return `${time(at)}${what}  ${outcome}, rule ${rule}${from}${detail === null ? '' : `: ${detail}`}`;
}

const noteLine = ({ provider, record, at, state, subject, seq }: Timeline['notes'][number], time: Time): string =>
  `${time(at)}  ${provider}:${record} ${state}: ${subject} (event ${seq})`;

const actionLine = ({ at, actor, via, action, subject, result }: Timeline['actions'][number], time: Time): string =>
  `${time(at)}  ${actor.name} (${via}): ${action}${subject === undefined ? '' : ` ${subject}`}, ${result}`;

function laneLine({ queue, key, state, dueAt, since, attempts, error }: Timeline['lanes'][number], time: Time): string {
  const until = state === 'waiting' ? ` until ${time(dueAt)}` : '';
  const tries = attempts > 0 ? `, ${attempts} failed tries` : '';
  // A lane that waits for a hold to end is behind from that end on.
  const behind = state === 'waiting' && dueAt !== null && since >= dueAt ? '' : `, behind since ${time(since)}`;
  return `${queue} ${key}: ${state}${until}${behind}${tries}${error === null ? '' : `: ${error}`}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map((member: unknown) => nameOf(member)).join(', ') || 'none';
  return value === null ? 'blank' : JSON.stringify(value);
}

const nameOf = (member: unknown): string =>
  typeof member === 'object' && member !== null && 'name' in member ? String(member.name) : String(member);
