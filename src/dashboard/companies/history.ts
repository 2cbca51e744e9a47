/** A company's events and decisions as one list, the newest first. */

import type { VNode } from 'preact';
import { isFieldName } from '../../../providers/fields.ts';
import type { Timeline, TimelineDecision, TimelineReceipt } from '../../connector/explain/timeline.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { connectionAddress } from '../addresses/addresses.ts';
import { writesAddress } from '../addresses/writes.ts';
import { html, type Markup } from '../page/html.ts';
import { brief, nameList, state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import { briefChange, type Spectator } from './shown-value.ts';

interface Entry {
  readonly at: number;
  readonly where: Markup;
  readonly what: Markup;
}

/** The list; what was decided of one record at one time is one entry. Later than `after`, until `until` if they are given. */
export function history(
  spectator: Spectator,
  {
    receipts,
    history: decisions,
    notes,
    actions,
    links,
    after = 0,
    until = Number.POSITIVE_INFINITY,
  }: Timeline & { readonly after: number | undefined; readonly until: number | undefined },
): Markup {
  const { reader } = spectator;
  const connections = [...new Set(links.flatMap(({ provider, state: is }) => (is === 'active' ? provider : [])))];
  const together = Map.groupBy(decisions, ({ at, provider, record }) => `${at} ${provider} ${record}`);
  const entries: readonly Entry[] = [
    ...receipts.map((receipt) => ofReceipt(spectator, receipt, connections)),
    ...[...together.values()].map((some) => ofDecisions(spectator, some)),
    ...notes.map((note) => ofNote(spectator, note)),
    ...actions.map((action) => ofAction(spectator, action)),
  ]
    .filter(({ at }) => at > after && at <= until)
    .toSorted((a, b) => b.at - a.at);
  if (entries.length === 0) return html`<p class="quiet">${reader.text('company.noTimeline')}</p>`;
  const columns = ['when', 'record', 'what'] as const;
  return table({
    label: reader.text('company.timeline'),
    columns: columns.map((column) => reader.text(`company.${column}`)),
    rows: entries.map(({ at, where, what }) => [timeOf(reader, at), where, what]),
  });
}

/** Fields in the reader's words. */
const fieldWords = (reader: Reader, fields: readonly string[]): readonly string[] =>
  fields.map((field) => (isFieldName(field) ? reader.text(`field.${field}`) : field));

function ofReceipt({ reader, role }: Spectator, receipt: TimelineReceipt, connections: readonly string[]): Entry {
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
      ${
        includesRole(role, 'operator') &&
        html`<div class="actions">
        <a href=${writesAddress({ event: String(seq) })}>${reader.text('company.undo')}</a>
        ${!pruned && connections.map((connection) => html`<a href=${`${connectionAddress(connection)}?event=${seq}#payload`}>${reader.text('company.try', { connection })}</a>`)}
      </div>`
      }`,
  };
}

function ofDecisions(spectator: Spectator, decisions: readonly TimelineDecision[]): Entry {
  const { reader } = spectator;
  const [first] = decisions;
  const unchanged = decisions.filter(({ outcome }) => outcome === 'skipped').length;
  return {
    at: first?.at ?? 0,
    where: html`${first?.provider} <code>${first?.record}</code>`,
    what: html`${decisions.filter(({ outcome }) => outcome !== 'skipped').map((each) => lineOf(spectator, each))}
      ${unchanged > 0 && html`<div class="quiet">${reader.text('company.unchanged', { count: unchanged })}</div>`}`,
  };
}

const NOTE_SIGNS = { done: 'ok', due: 'idle', dropped: 'warn' } as const;

/** The heading of a note may name a person. */
const ofNote = (
  { reader, seesPersons }: Spectator,
  { at, provider, record, subject, seq, state: is }: Timeline['notes'][number],
): Entry => ({
  at,
  where: html`${provider} <code>${record}</code>`,
  what: html`<div>
    ${state(NOTE_SIGNS[is], reader.text(`note.${is}`))}${seesPersons && html` <span lang="da">${subject}</span>`}
    <span class="quiet">, <a href=${`#event-${seq}`}>${seq}</a></span>
  </div>`,
});

/** What somebody did by hand. */
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

function lineOf(spectator: Spectator, decision: TimelineDecision): VNode {
  const { reader } = spectator;
  const { field, property, old, new: now, outcome, rule, seq, detail } = decision;
  const known = OUTCOMES.find((each) => each === outcome);
  const word =
    known === undefined ? html`<code>${outcome}</code>` : state(OUTCOME_SIGNS[known], reader.text(`outcome.${known}`));
  const blank = html`<span class="quiet">${reader.text('company.blank')}</span>`;
  const [before, after] = briefChange(spectator, field, { old, now });
  return html`<div class="value">
    ${word} ${property !== null && html` <code>${property}</code>: ${before ?? blank} ${'→'} ${after ?? blank}`}
    <span class="quiet">
      ${property !== null && html` ${reader.text('company.rule')} ${rule}`}
      ${seq > 0 && html`, <a href=${`#event-${seq}`}>${seq}</a>`}${detail !== null && html`: ${said(reader, detail, brief)}`}
    </span>
  </div>`;
}
