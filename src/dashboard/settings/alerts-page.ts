/** Who gets alerts and the weekly digest, and by which channel. */
import Type from 'typebox';
import { alerts } from '../../config/schema/alerts.ts';
import type { Server } from '../../http/server/server.ts';
import { CHANNELS, testAlert } from '../../operations/installation/alert-test.ts';
import type { DigestNeeds } from '../../operations/installation/digest.ts';
import { readAlerts } from '../../setup/alerts.ts';
import { questionsOf, readAnswers, type Settings, valueAt } from '../../setup/questions.ts';
import { SETTINGS } from '../addresses/addresses.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addAction, addPage } from '../routes/routes.ts';
import { alertFields } from '../steps/alert-form.ts';
import { answerIn, questionFields } from '../steps/question-fields.ts';
import { ownSection, readChanging, type SettingsDeps, saveSection, unreadablePage } from './settings-way.ts';

const { digest } = alerts.properties;
const DIGEST = questionsOf(Type.Object({ ...digest.properties }));

export const ALERTS_PAGE = `${SETTINGS}/alerts`;

export function addAlerts(app: Server, deps: SettingsDeps & Pick<DigestNeeds, 'digest'>): void {
  addTests(app, deps);
  addPage(app, deps, { path: ALERTS_PAGE, role: 'admin', show: (visit) => alertsPage(deps, visit) });
  addAction(app, deps, {
    path: ALERTS_PAGE,
    role: 'admin',
    run: (visit, fields) =>
      saveAlerts(deps, visit, fields, async (before) => {
        const kept = await readAlerts(deps.place, ownSection(visit, 'alerts'), answerIn(fields), before);
        const digested = before['digest'];
        return kept && { ...kept, ...(digested !== undefined && { digest: digested }) };
      }),
  });
  addAction(app, deps, {
    path: `${ALERTS_PAGE}/digest`,
    role: 'admin',
    run: (visit, fields) =>
      saveAlerts(deps, visit, fields, async ({ digest: _, ...before }) => {
        if (fieldValue(fields, 'isOn') === '') return before;
        return { ...before, digest: readAnswers(DIGEST, answerIn(fields)).settings };
      }),
  });
}

/** A form for each test of a channel; its page shows the result. */
function addTests(app: Server, deps: SettingsDeps & Pick<DigestNeeds, 'digest'>): void {
  addForm(app, deps, testAlert, {
    path: `${ALERTS_PAGE}/test`,
    next({ reader }, { channel, error }) {
      const word = reader.text(`settings.channel.${channel}`);
      return {
        title: reader.text('settings.alerts'),
        body: html`${
          error === null
            ? html`<p class="notice ok" role="status">${reader.text('settings.testSent', { channel: word })}</p>`
            : html`<p class="notice bad" role="alert">${reader.text('settings.testFailed', { channel: word })} ${said(reader, error)}</p>`
        }
          <p><a href=${ALERTS_PAGE} autofocus>${reader.text('settings.alerts')}</a></p>`,
      };
    },
  });
}

/** The tests of the daemon's current channels. */
function testForms({ digest }: Pick<DigestNeeds, 'digest'>, { reader, formToken }: Visit): Markup {
  const { alerts: running } = digest();
  const channels = CHANNELS.filter((name) => running?.[name] !== undefined);
  if (channels.length === 0) return html`<p class="quiet">${reader.text('settings.testNone')}</p>`;
  return html`<p>${reader.text('settings.testHelp')}</p>
    ${channels.map(
      (channel) => html`<form method="post" action=${`${ALERTS_PAGE}/test`} class="actions">
        ${hidden({ [FORM_TOKEN]: formToken, channel })}
        <button>${reader.text('settings.test', { channel: reader.text(`settings.channel.${channel}`) })}</button>
        <button name="digest" value="yes">${reader.text('settings.testDigest', { channel: reader.text(`settings.channel.${channel}`) })}</button>
      </form>`,
    )}`;
}

async function saveAlerts(
  deps: SettingsDeps,
  visit: Visit,
  fields: Fields,
  change: (before: Settings) => Promise<Settings | undefined>,
): Promise<string | PageBody> {
  return saveSection(deps, visit, {
    ...{ path: ['alerts'], seen: fieldValue(fields, 'file'), next: ALERTS_PAGE },
    change: (before) => change({ ...Object(before) }),
  });
}

async function alertsPage(deps: SettingsDeps & Pick<DigestNeeds, 'digest'>, visit: Visit): Promise<PageBody> {
  const { reader, formToken } = visit;
  const changing = await readChanging(deps, visit);
  if (changing.kind === 'unreadable') return unreadablePage(deps, visit, changing.problems);
  const settings: Settings = { ...Object(valueAt(changing.value, ['alerts'])) };
  const carried = { [FORM_TOKEN]: formToken, file: changing.digest };
  const form = { reader, problems: [], isAnswered: true };
  const isOn = settings['digest'] !== undefined;
  return {
    title: reader.text('settings.alerts'),
    body: html`<p><a href=${SETTINGS}>${reader.text('nav.settings')}</a></p>
      <p>${reader.text('settings.alertsHelp')}</p>
      <form method="post" action=${ALERTS_PAGE} class="stacked">
        ${hidden(carried)} ${alertFields({ ...form, settings })}
        <p class="actions"><button class="primary">${reader.text('settings.save')}</button></p>
      </form>
      <h2>${reader.text('settings.digest')}</h2>
      <form method="post" action=${`${ALERTS_PAGE}/digest`} class="stacked">
        ${hidden(carried)}
        <div class="choice">
          <input type="checkbox" id="isOn" name="isOn" value="yes" checked=${isOn} />
          <label for="isOn">${reader.text('settings.digestOn')}</label>
        </div>
        ${questionFields({ ...form, settings: { ...Object(settings['digest']) } }, DIGEST)}
        <p class="actions"><button>${reader.text('settings.save')}</button></p>
      </form>
      <h2>${reader.text('settings.tests')}</h2>
      ${testForms(deps, visit)}`,
  };
}
