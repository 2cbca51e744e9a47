/** A company in a list, by its name. */
import type { VNode } from 'preact';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { cutText } from '../../protocol/text/cut.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { html } from '../page/html.ts';
import { maskName } from '../page/masked.ts';
import type { Visitor } from '../page/visit.ts';

/** The longest name in a list. */
const BRIEF = 60;

/** Its name, if the role may see it, with its entity id; the id alone if the name is unknown. */
export function companyLink(
  { seesPersons }: Pick<Visitor, 'seesPersons'>,
  entity: string,
  names: ReadonlyMap<string, string>,
): VNode {
  const name = names.get(entity);
  if (name === undefined) return html`<a href=${companyAddress(entity)}><code>${entity}</code></a>`;
  const shown = !seesPersons && parseEntityId(entity)?.kind === 'person' ? maskName(name) : name;
  return html`<div class="value"><a href=${companyAddress(entity)}>${cutText(shown, BRIEF)}</a></div>
    <code class="together quiet">${entity}</code>`;
}
