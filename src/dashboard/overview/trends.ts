/** Charts drawn by the server: bars over 24 hours or 30 days, and the share of records in sync. */
import type { VNode } from 'preact';
import type { Bar, CountedKind, Share, Trends } from '../../operations/installation/status/trends.ts';
import { connectionAddress } from '../addresses/addresses.ts';
import { inboxAddress } from '../addresses/inbox.ts';
import { writesAddress } from '../addresses/writes.ts';
import { html, type Markup } from '../page/html.ts';
import type { Halves } from '../page/layout.ts';
import { table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { typedTime } from '../page/typed-time.ts';

const OF_CONNECTOR = ['received', 'written', 'kept', 'refused'] as const satisfies CountedKind[];
const OF_SERVICE = ['sent', 'failed', 'behind'] as const satisfies CountedKind[];
/** The kinds of which more is worse. */
const BAD: ReadonlySet<CountedKind> = new Set(['refused', 'failed', 'behind']);

/** The charts, and their table for readers without pictures. */
export function trendCharts(reader: Reader, trends: Trends, { connector, service }: Halves): VNode {
  const kinds = [...(connector ? OF_CONNECTOR : []), ...(service ? OF_SERVICE : [])];
  const { span } = trends;
  const other = span === 'hour' ? 'day' : 'hour';
  return html`<section id="trends">
    <h2>${reader.text(`trends.${span}`)}</h2>
    <p class="quiet">
      ${reader.text('trends.delay')} <a href=${other === 'day' ? '/?span=day#trends' : '/#trends'}>${reader.text(`trends.show-${other}`)}</a>
    </p>
    <div class="charts">${kinds.map((kind) => chart(reader, trends, kind))}</div>
    ${connector && spanForm(reader, trends)} ${trends.marks.length > 0 && markList(reader, trends)}
    <details>
      <summary>${reader.text('trends.table')}</summary>
      ${table({
        label: reader.text(`trends.${span}`),
        columns: [reader.text('trends.from'), ...kinds.map((kind) => reader.text(`trends.${kind}`))],
        numeric: kinds.map((_, index) => index + 1),
        rows: trends.bars
          .toReversed()
          .map((bar) => [spanLink(reader, bar), ...kinds.map((kind) => amount(reader, kind, bar.counts[kind] ?? 0))]),
      })}
    </details>
  </section>`;
}

const amount = (reader: Reader, kind: CountedKind, value: number): string =>
  kind === 'behind' && value > 0 ? reader.duration(value * 1_000) : reader.number(value);

const writesOf = ({ timeZone }: Reader, { from, until }: Bar): string =>
  writesAddress({ since: typedTime(from, timeZone), until: typedTime(until, timeZone) });

const spanLink = (reader: Reader, bar: Bar): VNode =>
  html`<a href=${writesOf(reader, bar)}>${reader.time(bar.from)}</a>`;

/** The figure next to a chart: a sum, or the current state. */
const figureOf = (bars: readonly Bar[], kind: CountedKind): number =>
  kind === 'behind'
    ? (bars.at(-1)?.counts.behind ?? 0)
    : bars.reduce((sum, { counts }) => sum + (counts[kind] ?? 0), 0);

const HEIGHT = 40;
const STEP = 10;

/** One chart. Its bars link to the writes of their time; the table has the same links for the keyboard. */
function chart(reader: Reader, { bars, marks }: Trends, kind: CountedKind): VNode {
  const most = Math.max(1, ...bars.map(({ counts }) => counts[kind] ?? 0));
  const width = bars.length * STEP;
  const [start, end] = [bars[0]?.from ?? 0, bars.at(-1)?.until ?? 0];
  return html`<figure class="chart">
    <figcaption>
      ${reader.text(`trends.${kind}`)} <strong>${amount(reader, kind, figureOf(bars, kind))}</strong>
    </figcaption>
    <svg viewBox=${`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" data-bars=${bars.length} class=${BAD.has(kind) ? 'bad' : 'plain'}>
      ${marks.map(({ at }) => {
        const x = Math.round(((at - start) / Math.max(1, end - start)) * width);
        return html`<line class="mark" x1=${x} x2=${x} y1="0" y2=${HEIGHT} />`;
      })}
      ${bars.map((bar, index) => {
        const value = bar.counts[kind] ?? 0;
        if (value === 0) return undefined;
        const height = Math.max(1, Math.round((value / most) * HEIGHT));
        return html`<a href=${writesOf(reader, bar)} tabindex="-1"
          ><rect x=${index * STEP + 1} y=${HEIGHT - height} width=${STEP - 2} height=${height}>
            <title>${reader.time(bar.from)}: ${amount(reader, kind, value)}</title>
          </rect></a
        >`;
      })}
    </svg>
  </figure>`;
}

/** A time field holds whole minutes, so the end of the last bar is the next one. */
const SHORT_OF_MINUTE_MS = 59_999;

/** The form that undoes the writes of a span, chosen here or dragged over a chart. */
function spanForm(reader: Reader, { bars }: Trends): VNode {
  const choice = (name: 'since' | 'until', time: (bar: Bar) => number, chosen: number): VNode => html`<div>
    <label for=${`span-${name}`}>${reader.text(`writes.${name}`)}</label>
    <select id=${`span-${name}`} name=${name} data-span=${name}>
      ${bars.map((bar, index) => html`<option value=${typedTime(time(bar), reader.timeZone)} selected=${index === chosen}>${reader.time(time(bar))}</option>`)}
    </select>
  </div>`;
  return html`<form class="filters" action="/writes" data-spans>
    ${choice('since', ({ from }) => from, Math.max(0, bars.length - 2))} ${choice('until', ({ until }) => until + SHORT_OF_MINUTE_MS, bars.length - 1)}
    <button>${reader.text('trends.span')}</button>
    <span class="quiet drag-hint">${reader.text('trends.drag')}</span>
  </form>`;
}

/** The runs of the charts' dotted lines. */
const markList = (reader: Reader, { marks }: Trends): VNode => html`<p class="quiet">
  ${reader.text('trends.marks')} ${marks.map(
    ({ at, task, actor }, index) => html`${index > 0 && ', '}${timeOf(reader, at)} <code>${task}</code> ${actor}`,
  )}
</p>`;

/** A bar for a connection, each part a link to its records; undefined if no record is linked. */
export function shareBar(reader: Reader, share: Share): Markup {
  const { linked, failing, left, differing, provider } = share;
  if (linked === 0) return undefined;
  const parts = [
    ['sync', Math.max(0, linked - failing - left - differing), connectionAddress(provider)],
    ['differing', differing, inboxAddress({ kind: 'difference', provider })],
    ['left', left, `/holds?provider=${encodeURIComponent(provider)}`],
    ['failing', failing, inboxAddress({ kind: 'value', provider })],
  ] as const;
  const words = parts.filter(([, count]) => count > 0);
  return html`<div class="share">
    <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      ${words.map(([kind, count], index) => {
        const before = words.slice(0, index).reduce((sum, [, each]) => sum + each, 0);
        return html`<a href=${words[index]?.[2]} tabindex="-1"
          ><rect class=${kind} x=${Math.round((before / linked) * 1_000)} y="0" height="10"
            width=${Math.max(4, Math.round((count / linked) * 1_000))}
        /></a>`;
      })}
    </svg>
    ${words.map(([kind, count, href], index) => {
      const text = `${reader.text(`share.${kind}`)} ${reader.number(count)}`;
      return html`${index > 0 && ' · '}<a href=${href}>${text}</a>${kind === 'sync' && ` (${reader.share(count / linked)})`}`;
    })}
  </div>`;
}
