/** A company's events and decisions as one list, newest first. */

import type { VNode } from 'preact';
import type { Timeline, TimelineDecision, TimelineReceipt } from '../../connector/explain/timeline.ts';
import { CARRIED } from '../../connector/history/history.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { connectionAddress } from '../addresses/addresses.ts';
import { writesAddress } from '../addresses/writes.ts';
import { html, type Markup } from '../page/html.ts';
import { brief, nameList, state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import { briefChange, fieldWord, type Spectator } from './values/shown-value.ts';

interface Entry {
  readonly at: number;
  readonly where: Markup;
  readonly what: Markup;
}

/** A decision or note that comes later than this is an entry of its own, with the number of its event. */
const TOGETHER_MS = 3_600_000;

/**
 * The list of entries: an event with its decisions and notes; decisions without an event, by record and time. Only
 * entries later than `after` and not later than `until`.
 */
export function history(
  spectator: Spectator,
  timeline: Timeline & { readonly after: number | undefined; readonly until: number | undefined },
): Markup {
  const { reader } = spectator;
  const { links, after = 0, until = Number.POSITIVE_INFINITY } = timeline;
  const within = <T extends { readonly at: number }>(some: readonly T[]): readonly T[] =>
    some.filter(({ at }) => at > after && at <= until);
  const connections = [...new Set(links.flatMap(({ provider, state: is }) => (is === 'active' ? provider : [])))];
  const receipts = timeline.receipts.filter(({ receivedAt }) => receivedAt > after && receivedAt <= until);
  const received = new Map(receipts.map(({ seq, receivedAt }) => [seq, receivedAt]));
  const eventOf = ({ seq, at }: { readonly seq: number; readonly at: number }): number | undefined => {
    const receivedAt = received.get(seq);
    return receivedAt !== undefined && at >= receivedAt && at - receivedAt < TOGETHER_MS ? seq : undefined;
  };
  const decided = Map.groupBy(within(timeline.history), eventOf);
  const noted = Map.groupBy(within(timeline.notes), eventOf);
  const entries: readonly Entry[] = [
    ...receipts.map((receipt) => {
      const { seq } = receipt;
      const effects = [
        ...recordsIn(decided.get(seq) ?? []).map((some) => effectOf(spectator, some)),
        ...(noted.get(seq) ?? []).map((note) => noteOf(spectator, note)),
      ];
      return ofReceipt(spectator, { receipt, connections, effects });
    }),
    ...recordsIn(decided.get(undefined) ?? []).map((some) => ofDecisions(spectator, some)),
    ...(noted.get(undefined) ?? []).map((note) => ofNote(spectator, note)),
    ...within(timeline.actions).map((action) => ofAction(spectator, action)),
  ].toSorted((a, b) => b.at - a.at);
  if (entries.length === 0) return html`<p class="quiet">${reader.text('company.noTimeline')}</p>`;
  const columns = ['when', 'record', 'what'] as const;
  return table({
    label: reader.text('company.timeline'),
    columns: columns.map((column) => reader.text(`company.${column}`)),
    rows: entries.map(({ at, where, what }) => [timeOf(reader, at), where, what]),
  });
}

/** Groups decisions by record and time. */
const recordsIn = (decisions: readonly TimelineDecision[]): readonly (readonly TimelineDecision[])[] => [
  ...Map.groupBy(decisions, ({ at, provider, record }) => `${at} ${provider} ${record}`).values(),
];

const fieldWords = (reader: Reader, fields: readonly string[]): readonly string[] =>
  fields.map((field) => fieldWord(reader, field));

interface ReceivedEvent {
  readonly receipt: TimelineReceipt;
  readonly connections: readonly string[];
  /** The effect on each record. */
  readonly effects: readonly Markup[];
}

function ofReceipt({ reader, role }: Spectator, { receipt, connections, effects }: ReceivedEvent): Entry {
  const { seq, receivedAt, appliedAt, pruned, quarantined, events, malformed, changed, stale } = receipt;
  const names = (list: readonly string[]): string => list.join(', ');
  const notes = [
    appliedAt === null ? reader.text('company.unapplied') : undefined,
    pruned ? reader.text('company.pruned') : undefined,
    changed.length > 0
      ? html`${reader.text('company.changed')} ${nameList(reader, fieldWords(reader, changed))}`
      : undefined,
    stale.length > 0 ? `${reader.text('company.stale')}: ${names(fieldWords(reader, stale))}` : undefined,
    malformed.length > 0 ? `${reader.text('company.malformed')}: ${names(malformed)}` : undefined,
    quarantined === null ? undefined : `${reader.text('company.quarantined')}: ${quarantined}`,
  ].filter((note) => note !== undefined);
  return {
    at: receivedAt,
    where: html`<span id=${`event-${seq}`}>${reader.text('company.event')} <span class="quiet">${seq}</span></span>`,
    what: html`<div class="names">${nameList(reader, events)}</div> ${notes.map((note) => html`<div class="quiet">${note}</div>`)}
      ${effects}
      ${
        includesRole(role, 'operator') &&
        html`<div class="actions">
        <a href=${writesAddress({ event: String(seq) })}>${reader.text('company.undo')}</a>
        ${!pruned && connections.map((connection) => html`<a href=${`${connectionAddress(connection)}?event=${seq}#payload`}>${reader.text('company.try', { connection })}</a>`)}
      </div>`
      }`,
  };
}

const recordOf = ({ provider, record }: { readonly provider: string; readonly record: string }): VNode =>
  html`<span>${provider} <code>${record}</code></span>`;

/** The effect of an event on a record, and its time. */
const effectOf = (spectator: Spectator, decisions: readonly TimelineDecision[]): Markup => {
  const [first] = decisions;
  return (
    first &&
    html`<div>
      ${recordOf(first)} <span class="quiet">${timeOf(spectator.reader, first.at)}</span>
      ${linesOf(spectator, decisions, true)}
    </div>`
  );
};

const ofDecisions = (spectator: Spectator, decisions: readonly TimelineDecision[]): Entry => {
  const [first] = decisions;
  return { at: first?.at ?? 0, where: first && recordOf(first), what: linesOf(spectator, decisions, false) };
};

const isUnchanged = ({ outcome }: TimelineDecision): boolean => outcome === 'skipped' || outcome === CARRIED;

/** A line for each decision; one count for all that changed nothing. */
function linesOf(spectator: Spectator, decisions: readonly TimelineDecision[], isWithEvent: boolean): Markup {
  const { reader } = spectator;
  const [unchanged, others] = [decisions.filter(isUnchanged).length, decisions.filter((each) => !isUnchanged(each))];
  return html`${others.map((each) => lineOf(spectator, each, isWithEvent))}
    ${unchanged > 0 && html`<div class="quiet">${reader.text('company.unchanged', { count: unchanged })}</div>`}`;
}

const NOTE_SIGNS = { done: 'ok', due: 'idle', dropped: 'warn' } as const;

type Note = Timeline['notes'][number];

/** The heading of a note may name a person. */
const noteWords = ({ reader, seesPersons }: Spectator, { subject, state: is }: Note): Markup =>
  html`${state(NOTE_SIGNS[is], reader.text(`note.${is}`))}${seesPersons && html` <span lang="da">${subject}</span>`}`;

const noteOf = (spectator: Spectator, note: Note): VNode =>
  html`<div>${recordOf(note)} <span class="quiet">${timeOf(spectator.reader, note.at)}</span> ${noteWords(spectator, note)}</div>`;

const ofNote = (spectator: Spectator, note: Note): Entry => ({
  at: note.at,
  where: recordOf(note),
  what: html`<div>
    ${noteWords(spectator, note)}
    <span class="quiet">, <a href=${`#event-${note.seq}`}>${note.seq}</a></span>
  </div>`,
});

function ofAction(
  { reader }: Spectator,
  { at, actor, via, action, subject = '', result }: Timeline['actions'][number],
): Entry {
  return {
    at,
    where: html`${reader.text('company.byHand')} <span class="quiet">${reader.text(`via.${via}`)}</span>`,
    what: html`<div>
      ${brief(actor.name)}: <code>${action}</code> ${brief(subject)}
      <span class="quiet"> ${said(reader, result, brief)}</span>
    </div>`,
  };
}

const OUTCOMES = ['written', 'kept', 'refused'] as const;
const OUTCOME_SIGNS = { written: 'ok', kept: 'idle', refused: 'bad' } as const;

function lineOf(spectator: Spectator, decision: TimelineDecision, isWithEvent: boolean): VNode {
  const { reader } = spectator;
  const { field, property, old, new: now, outcome, rule, seq, detail } = decision;
  const known = OUTCOMES.find((each) => each === outcome);
  const word =
    known === undefined ? html`<code>${outcome}</code>` : state(OUTCOME_SIGNS[known], reader.text(`outcome.${known}`));
  const blank = html`<span class="quiet">${reader.text('company.blank')}</span>`;
  const [before, after] = briefChange(spectator, field, { old, now });
  return html`<div class="value">
    ${word} ${property !== null && html` ${field !== null && fieldWord(reader, field)} <code class="quiet">${property}</code>: ${before ?? blank} ${'→'} ${after ?? blank}`}
    <span class="quiet">
      ${property !== null && html` ${reader.text('company.rule')} ${rule}`}
      ${seq > 0 && !isWithEvent && html`, <a href=${`#event-${seq}`}>${seq}</a>`}${detail !== null && html`: ${said(reader, detail, brief)}`}
    </span>
  </div>`;
}
