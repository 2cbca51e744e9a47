/** The actions for one value of a record, next to the value. */
import type { Planned } from '../../connector/decide/planned.ts';
import type { Timeline } from '../../connector/explain/timeline.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { ALL_PROPERTIES } from '../../connector/overrides/override.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { html, type Markup } from '../page/html.ts';
import { actionAddress } from './record-action.ts';
import type { Spectator } from './values/shown-value.ts';

interface ActedOn {
  readonly record: RecordRef;
  readonly property: string;
  /** Undefined if the record could not be compared. */
  readonly planned: Planned | undefined;
}

/** Links to the previews of the possible decisions; none for viewers. */
export function valueActions(
  { reader, role }: Pick<Spectator, 'reader' | 'role'>,
  { entity, overrides }: Timeline,
  { record: { provider, recordId }, property, planned }: ActedOn,
): Markup {
  if (!includesRole(role, 'operator')) return null;
  const standing = overrides.find(
    (each) =>
      each.provider === provider &&
      each.record === recordId &&
      (each.property === property || each.property === ALL_PROPERTIES),
  );
  const names: readonly ('end' | 'release' | 'hold')[] =
    standing !== undefined ? ['end'] : planned?.action === 'keep' ? ['release', 'hold'] : ['hold'];
  const of = { provider, record: recordId, property: standing?.property ?? property };
  return html`<div class="actions">
    ${names.map((name) => {
      const word = reader.text(name === 'end' ? `value.end.${standing?.kind ?? 'hold'}` : `value.${name}`);
      const fields = name === 'release' ? { ...of, once: 'yes' } : of;
      return html`<a href=${actionAddress(entity, name, fields)} aria-label=${`${word}: ${property}`}>${word}</a>`;
    })}
  </div>`;
}
