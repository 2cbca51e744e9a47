/** The request and answer of an attempt, and the changes in its payload. */
import type { VNode } from 'preact';
import { describeUpdates } from '../../protocol/describe/describe.ts';
import { readPayload, type WireOptions } from '../../protocol/payload.ts';
import type { DeliveryBody } from '../../service/delivery/bodies.ts';
import type { Attempt } from '../../service/delivery/deliveries.ts';
import { sentHeaders, webhookId } from '../../service/delivery/post.ts';
import type { Security } from '../../service/monitors/monitor.ts';
import { html, type Markup } from '../page/html.ts';
import { brief, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';

/** The changed fields of a payload, before and after, in Danish as in mails; nothing if it has none. */
export function changedFields(reader: Reader, { bytes }: DeliveryBody, wire: WireOptions): Markup {
  const read = readPayload(JSON.parse(bytes.toString()), wire);
  const described = read.ok ? describeUpdates(read.payload.updates) : [];
  const lines = described.flatMap(({ title, lines: some }) => some.map((line) => ({ title, ...line })));
  if (lines.length === 0) return null;
  const columns = ['field', 'before', 'after'] as const;
  const danish = (text: string | null): Markup =>
    text !== null && html`<div class="value" lang="da">${brief(text)}</div>`;
  return html`<h2>${reader.text('delivery.changed')}</h2>
    ${table({
      label: reader.text('delivery.changed'),
      columns: columns.map((column) => reader.text(`delivery.${column}`)),
      header: 0,
      rows: lines.map(({ title, label, before, after }) => [
        danish(title === label ? title : `${title}: ${label}`),
        danish(before),
        danish(after),
      ]),
    })}`;
}

interface Sent {
  /** Undefined if the change was deleted. */
  readonly body: DeliveryBody | undefined;
  readonly id: string;
  /** Undefined if the monitor was removed. */
  readonly security: Security | undefined;
}

/** One attempt: the headers of both sides, and the stored part of the answer. */
export function exchange(reader: Reader, attempt: Attempt, { body, id, security }: Sent): VNode {
  const { number, at, headers, answer } = attempt;
  const sent = body && security && sentHeaders({ id: webhookId(body.change, id), attempt: number }, at, security);
  return html`<section id="attempt">
    <h3>${reader.text('attempt.title', { number })}</h3>
    ${sent && headerList(reader.text('attempt.sent'), sent)} ${headers && headerList(reader.text('attempt.received'), headers)}
    ${answer && html`<pre class="payload" tabindex="0" aria-label=${reader.text('attempt.body')}>${answer}</pre>`}
  </section>`;
}

const headerList = (label: string, headers: Readonly<Record<string, string>>): VNode => html`<h4>${label}</h4>
  <dl class="facts">
    ${Object.entries(headers).map(([name, value]) => html`<dt><code>${name}</code></dt><dd><code class="wide">${value}</code></dd>`)}
  </dl>`;
