/** The alerts part of the last step: who gets alerts, and a test before the daemon runs. */
import { hostname } from 'node:os';
import { checkConfig } from '../../config/load.ts';
import type { AlertsConfig } from '../../config/schema/alerts.ts';
import type { ConfigProblem } from '../../config/schema/fill.ts';
import type { Server } from '../../http/server/server.ts';
import { perform } from '../../operations/definition/operation.ts';
import { CHANNELS, testAlert } from '../../operations/installation/alert-test.ts';
import type { Draft } from '../../setup/draft.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import { alertFields, readAlerts } from '../steps/alert-form.ts';
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
      const alerts = await readAlerts(deps.place, visit.way.section(visit, 'alerts'), fields, before.alerts);
      const draft = await saveDraft(deps, visit, 'alerts', ({ alerts: _, ...others }) => ({
        ...others,
        ...(alerts !== undefined && { alerts }),
      }));
      const isTest = fieldValue(fields, 'do') === 'test';
      const read = await alertsIn(deps, draft);
      if (read.problems.length > 0) return { ...(await show(visit, draft, null)), status: 422 };
      if (!isTest || read.alerts === undefined) return addressOf(visit.way, 'fill');
      return show(visit, draft, await sendTests(deps, visit, read.alerts));
    },
  });
}

/** Folded, because alerts can wait. */
export async function alertsPart(deps: SetUpDeps, { reader, carried, way }: StepVisit, draft: Draft): Promise<Markup> {
  const settings = draft.alerts ?? {};
  const { problems } = await alertsIn(deps, draft);
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

/** The answers as the daemon would read them, and their errors. */
async function alertsIn(
  { place, env }: SetUpDeps,
  { alerts }: Draft,
): Promise<{ readonly alerts?: AlertsConfig | undefined; readonly problems: readonly ConfigProblem[] }> {
  if (alerts === undefined) return { problems: [] };
  const load = await checkConfig({ alerts }, place.file, env);
  if (load.ok) return { alerts: load.config.alerts, problems: [] };
  return {
    problems: load.errors.map(({ path, message }) => ({ path: path.replace(/^alerts\.?/u, ''), message })),
  };
}

/** The results of a test of each channel. */
async function sendTests(deps: SetUpDeps, { reader, visitor: { actor } }: StepVisit, alerts: AlertsConfig) {
  const digest = () => ({
    place: hostname(),
    dashboard: undefined,
    language: undefined,
    timeZone: reader.timeZone,
    alerts,
  });
  const ground = { store: deps.store, now: deps.now, digest };
  const lines: Markup[] = [];
  for (const channel of CHANNELS.filter((each) => alerts[each] !== undefined)) {
    const { error } = await perform(testAlert, { channel, digest: false }, ground, { actor, via: 'page' });
    const word = reader.text(`settings.channel.${channel}`);
    lines.push(
      error === null
        ? html`<p class="notice ok" role="status">${reader.text('settings.testSent', { channel: word })}</p>`
        : html`<p class="notice bad" role="alert">${reader.text('settings.testFailed', { channel: word })} ${said(reader, error)}</p>`,
    );
  }
  return html`${lines}`;
}
