/** The effect of a mapping: one record before and after, and the sum over a sample. */
import type { VNode } from 'preact';
import type { Planned } from '../../connector/decide/planned.ts';
import type { CurrentRecord } from '../../connector/explain/current.ts';
import type { MappingEffect } from '../../connector/proposals/effect.ts';
import type { RecordEffect, Sum } from '../../setup/trials/effects.ts';
import { outlook } from '../companies/values/outlook.ts';
import { html, type Markup } from '../page/html.ts';
import { livePart, state } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { findingLine } from './crm-page.ts';

/** One record before and after; buttons of `FORM` draw it again and choose another one. */
export function effectPart(
  { reader, visitor }: Visit,
  provider: string,
  effect: RecordEffect | 'invalid' | undefined,
): VNode {
  return html`<section id="effect" data-drawn aria-live="polite" class="group">
    <h2>${reader.text('effect.title')}</h2>
    ${effect === undefined && html`<p>${reader.text('effect.none')}</p>`}
    ${effect === 'invalid' && html`<p>${reader.text('effect.invalid')}</p>`}
    ${
      typeof effect === 'object' &&
      html`<p>${provider} <code>${effect.id}</code>${effect.isInvented && html`<br /><small class="quiet">${reader.text('effect.invented')}</small>`}</p>
        <input type="hidden" name="record" value=${effect.id} />
        ${outlook({ reader, ...visitor }, { provider, recordId: effect.id, current: shortened(effect.current) }).table}
        ${more(effect.current) > 0 && html`<p>${reader.text('effect.more', { count: more(effect.current) })}</p>`}`
    }
    <p class="actions">
      <button name="do" value="show">${reader.text('effect.show')}</button>
      <button name="do" value="next" class="plain">${reader.text('effect.next')}</button>
    </p>
  </section>`;
}

/** The properties of a record that a page has room for. */
const MOST_SHOWN = 20;

/** Properties whose value is replaced or kept come first; a few filled blanks are enough. */
function shortened(current: CurrentRecord): CurrentRecord {
  if (current.kind !== 'compared') return current;
  const changing = current.planned.filter(isChange);
  if (changing.length === 0) return current;
  const rank = ({ action, rule }: Planned): number => (action !== 'write' ? 1 : rule === 'blank' ? 2 : 0);
  return { ...current, planned: changing.toSorted((a, b) => rank(a) - rank(b)).slice(0, MOST_SHOWN) };
}

const isChange = ({ action, rule }: Planned): boolean => action !== 'skip' || rule !== 'same';

const more = (current: CurrentRecord): number =>
  current.kind === 'compared' ? Math.max(0, current.planned.filter(isChange).length - MOST_SHOWN) : 0;

/** The sum so far. */
export function sumPart(visit: Visit, sum: Sum | undefined): VNode {
  const { reader } = visit;
  const isCounting = sum?.state === 'counting';
  const body = html`<h2>${reader.text('sum.title')}</h2>
    ${sum === undefined && html`<p>${reader.text('sum.help')}</p>`}
    ${sum?.effect !== undefined && figures(visit, sum.effect)}
    ${sum?.state === 'cancelled' && html`<p>${state('warn', reader.text('sum.cancelled'))}</p>`}
    ${sum?.failure !== undefined && html`<div class="notice bad" role="alert">${findingLine(reader, sum.failure)}</div>`}
    ${
      isCounting
        ? html`${progress(visit, sum.effect)}
            <p><button form="mapping" name="do" value="cancel">${reader.text('sum.cancel')}</button></p>`
        : html`<p><button form="mapping" name="do" value="count">${reader.text(sum === undefined ? 'sum.count' : 'sum.again')}</button></p>`
    }`;
  return livePart(visit, { id: 'sum', refreshes: isCounting ? 'soon' : 'never' }, body);
}

/** The records of a sample. */
const SAMPLE = 2_000;

function progress({ reader }: Visit, effect: MappingEffect | undefined): Markup {
  const done = effect === undefined ? 0 : effect.read + effect.unread;
  const most = effect === undefined || effect.isInvented ? SAMPLE : Math.min(SAMPLE, effect.of);
  return html`<p>
    <progress max=${Math.max(1, most)} value=${done} aria-label=${reader.text('sum.title')}></progress>
    ${reader.text('sum.progress', { done, most })}
  </p>`;
}

/** One sentence, then the exceptions. For all linked records if a sample was read. */
function figures({ reader }: Visit, effect: MappingEffect): Markup {
  const { read, unread, left, of, filled, kept, overwritten, updated, refused, isInvented } = effect;
  const factor = read + unread === 0 ? 1 : of / (read + unread);
  const isSample = factor > 1 && !isInvented;
  return html`<p class="quiet">${reader.text('sum.asOf')}</p>
    <p><strong>${reader.text('sum.result', { read, filled, kept, overwritten })}</strong></p>
    ${isSample && html`<p>${reader.text('sum.whole', { of, filled: Math.round(filled * factor), overwritten: Math.round(overwritten * factor) })}</p>`}
    ${overwritten > 0 && html`<p>${state('warn', reader.text('sum.overwrites'))}</p>`}
    ${isInvented && html`<p class="quiet">${reader.text('sum.invented')}</p>`}
    ${updated > 0 && html`<p>${reader.text('sum.updated', { count: updated })}</p>`}
    ${refused > 0 && html`<p>${reader.text('sum.refused', { count: refused })}</p>`}
    ${left > 0 && html`<p>${reader.text('sum.left', { count: left })}</p>`}
    ${unread > 0 && html`<p>${reader.text('sum.unread', { count: unread })}</p>`}`;
}
