/** The choice of the time zone, for the set-up and for Settings. */
import { DANISH_ZONE, isTimeZone } from '../../protocol/text/zone-clock.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

const FIELD = 'timeZone';

/** The chosen zone; undefined if the form has none that exists. */
export function chosenZone(fields: Fields): string | undefined {
  const zone = fieldValue(fields, FIELD);
  return zone !== '' && isTimeZone(zone) ? zone : undefined;
}

export function zoneChoice(reader: Reader, chosen = DANISH_ZONE): Markup {
  const zones = [...new Set([DANISH_ZONE, 'UTC', chosen, ...Intl.supportedValuesOf('timeZone')])].toSorted();
  return html`<div class="question">
    <label for=${FIELD}>${reader.text('setting.timeZone')}</label>
    <select id=${FIELD} name=${FIELD} aria-describedby="zone-help">
      ${zones.map((zone) => html`<option selected=${zone === chosen}>${zone}</option>`)}
    </select>
    <p class="quiet" id="zone-help">${reader.text('zone.help')}</p>
  </div>`;
}
