/** The differences between a record and the register, in words. */
import type { VNode } from 'preact';
import type { Planned } from '../../../connector/decide/planned.ts';
import type { CurrentRecord } from '../../../connector/explain/current.ts';
import type { KnownValue } from '../../../connector/explain/known.ts';
import type { RecordRef } from '../../../connector/names/queues.ts';
import { html, type Markup } from '../../page/html.ts';
import { state } from '../../page/parts.ts';
import type { Reader } from '../../page/reader.ts';
import { said } from '../../page/said.ts';

/** A linked record with its values. */
export interface ComparedRecord extends RecordRef {
  readonly current: CurrentRecord;
  /** The known values of a record that could not be compared. */
  readonly known?: readonly KnownValue[];
}

export const blank = (reader: Reader): VNode => html`<span class="quiet">${reader.text('company.blank')}</span>`;

/** Why a record could not be compared; nothing if it could. */
export function remark(reader: Reader, { provider, recordId, current }: ComparedRecord): Markup {
  switch (current.kind) {
    case 'compared':
      return null;
    case 'silent':
      return html`<p class="notice warn">
        ${reader.text('company.silent', { provider: `${provider} ${recordId}`, reason: current.reason })}
      </p>`;
    case 'contested':
      return html`<p class="notice warn">
        ${provider} <code>${recordId}</code>: ${reader.text('company.contested')} ${said(reader, current.reason)}
      </p>`;
    default:
      return html`<p class="notice">${provider} <code>${recordId}</code>: ${reader.text(`company.${current.kind}`)}</p>`;
  }
}

/** What cvrsync will do with a property that differs, and by which rule. */
export const verdict = (reader: Reader, { action, rule }: Planned): Markup =>
  html`${state(action === 'write' ? 'warn' : 'idle', reader.text(rule === 'held' ? 'company.held' : `company.${action}`))}
    <span class="quiet"> (${reader.text('company.rule')} ${rule})</span>`;

export const differs = ({ action, rule }: Planned): boolean => action !== 'skip' || rule !== 'same';
