/** The time zone of the pages and mails. */
import type { Server } from '../../http/server/server.ts';
import { valueAt } from '../../setup/questions.ts';
import { SETTINGS } from '../addresses/addresses.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import { chosenZone, zoneChoice } from '../steps/zone-choice.ts';
import { readChanging, type SettingsDeps, saveSection, unreadablePage } from './settings-way.ts';

export const ZONE_PAGE = `${SETTINGS}/time-zone`;

export function addZone(app: Server, deps: SettingsDeps): void {
  addPage(app, deps, { path: ZONE_PAGE, role: 'admin', show: (visit) => zonePage(deps, visit) });
  addAction(app, deps, {
    path: ZONE_PAGE,
    role: 'admin',
    async run(visit, fields) {
      const zone = chosenZone(fields);
      if (zone === undefined) return { ...(await zonePage(deps, visit)), status: 422 };
      const at = { path: ['timeZone'], seen: fieldValue(fields, 'file'), next: ZONE_PAGE };
      return saveSection(deps, visit, { ...at, change: async () => zone });
    },
  });
}

async function zonePage(deps: SettingsDeps, visit: Visit): Promise<PageBody> {
  const { reader, formToken } = visit;
  const changing = await readChanging(deps, visit);
  if (changing.kind === 'unreadable') return unreadablePage(deps, visit, changing.problems);
  const zone = valueAt(changing.value, ['timeZone']);
  return {
    title: reader.text('setting.timeZone'),
    body: html`<p><a href=${SETTINGS}>${reader.text('nav.settings')}</a></p>
      <form method="post" action=${ZONE_PAGE} class="narrow">
        ${hidden({ [FORM_TOKEN]: formToken, file: changing.digest })}
        ${zoneChoice(reader, typeof zone === 'string' ? zone : undefined)}
        <button class="primary">${reader.text('settings.save')}</button>
      </form>`,
  };
}
