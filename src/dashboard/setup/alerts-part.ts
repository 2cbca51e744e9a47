/** The alerts part of the last step: who gets alerts, and a test before the daemon runs. */
import type { AlertsConfig } from '../../config/schema/alerts.ts';
import type { Server } from '../../http/server/server.ts';
import { testChannels } from '../../operations/installation/alert-test.ts';
import { checkAlerts, readAlerts } from '../../setup/alerts.ts';
import type { Draft } from '../../setup/draft.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import { alertFields } from '../steps/alert-form.ts';
import { answerIn } from '../steps/question-fields.ts';
import { addressOf, addStepAction, type StepVisit, saveDraft } from '../steps/step-route.ts';
import type { SetUpDeps } from './first-way.ts';

const PATH = '/fill/alerts';

/** Adds the form's actions: it stores the answers, and sends a test on request. */
export function addAlertsPart(
  app: Server,
  deps: SetUpDeps,
  show: (visit: StepVisit, draft: Draft, notice: Markup) => Promise<PageBody>,
): void {
  addStepAction(app, deps, {
    path: PATH,
    step: 'fill',
    async run(visit, before, fields) {
      const alerts = await readAlerts(deps.place, visit.way.section(visit, 'alerts'), answerIn(fields), before.alerts);
      const draft = await saveDraft(deps, visit, 'alerts', ({ alerts: _, ...others }) => ({
        ...others,
        ...(alerts !== undefined && { alerts }),
      }));
      const isTest = fieldValue(fields, 'do') === 'test';
      const read = await checkAlerts(draft.alerts, deps);
      if (read.problems.length > 0) return { ...(await show(visit, draft, null)), status: 422 };
      if (!isTest || read.alerts === undefined) return addressOf(visit.way, 'fill');
      return show(visit, draft, await sendTests(deps, visit, read.alerts));
    },
  });
}

/** Folded, because alerts can wait. */
export async function alertsPart(deps: SetUpDeps, { reader, carried, way }: StepVisit, draft: Draft): Promise<Markup> {
  const settings = draft.alerts ?? {};
  const { problems } = await checkAlerts(draft.alerts, deps);
  const form = { reader, settings, problems, isAnswered: draft.alerts !== undefined };
  return html`<details open=${form.isAnswered || undefined}>
    <summary>${reader.text('setup.alerts')}</summary>
    <p>${reader.text('settings.alertsHelp')} ${reader.text('setup.alertsLater')}</p>
    <form method="post" action=${`${way.base}${PATH}`} class="stacked">
      ${hidden(carried)} ${alertFields(form)}
      <p class="actions">
        <button name="do" value="keep">${reader.text('settings.save')}</button>
        <button name="do" value="test">${reader.text('setup.alertsTest')}</button>
      </p>
    </form>
  </details>`;
}

/** The results of a test of each channel. */
async function sendTests(deps: SetUpDeps, { reader, visitor: { actor } }: StepVisit, alerts: AlertsConfig) {
  const { store, now } = deps;
  const tests = await testChannels({ store, now, alerts, timeZone: reader.timeZone }, { actor, via: 'page' });
  return html`${tests.map(({ channel, error }) => {
    const word = reader.text(`settings.channel.${channel}`);
    return error === null
      ? html`<p class="notice ok" role="status">${reader.text('settings.testSent', { channel: word })}</p>`
      : html`<p class="notice bad" role="alert">${reader.text('settings.testFailed', { channel: word })} ${said(reader, error)}</p>`;
  })}`;
}
