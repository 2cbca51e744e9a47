/** Pages and actions that make a monitor or a job, and change one. */
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { createJob } from '../../service/monitors/jobs.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { type MonitorContext, MonitorError, requireListener } from '../../service/monitors/monitor-input.ts';
import { createMonitor, getMonitor, updateMonitor } from '../../service/monitors/monitors.ts';
import type { Tx } from '../../store/store.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { secretNotice } from '../page/confirmation.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { messagePage, notFoundPage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type ServicePageDeps } from '../routes/routes.ts';
import { monitorForm } from './form.ts';
import { NEW_MONITOR, packTexts, patchOf, textsIn, textsOf, unpackTexts } from './form-fields.ts';
import { jobFields } from './job-fields.ts';
import type { MonitorKind } from './list.ts';

/** Adds them. */
export function addMonitorForms(app: Server, deps: ServicePageDeps): void {
  addCreation(app, deps, 'monitors');
  addCreation(app, deps, 'jobs');
  addEdit(app, deps);
}

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function addCreation(app: Server, deps: ServicePageDeps, kind: MonitorKind): void {
  const { store, management } = deps;
  addPage(app, deps, {
    path: `/${kind}/new`,
    role: 'admin',
    show: (visit) => creationPage(deps, visit, { kind, id: crypto.randomUUID(), fields: [] }),
  });
  addAction(app, deps, {
    path: `/${kind}`,
    role: 'admin',
    async run(visit, fields) {
      const { visitor, reader, now } = visit;
      const id = fieldValue(fields, 'id');
      if (!GUID.test(id)) return messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: '' });
      const context = { secrets: management.secrets, now, options: management.monitorOptions, id };
      const saved = await saving(() =>
        store.write(async (tx) => {
          // The form was sent twice: the other answer shows the secret.
          if ((await getMonitor(tx, management.secrets, id)) !== undefined) return undefined;
          const monitor = await (kind === 'jobs' ? newJob : newMonitor)(tx, fields, context);
          const action = kind === 'jobs' ? 'job.create' : 'monitor.create';
          const entry = { actor: visitor.actor, via: 'page', action, subject: id } as const;
          await recordAudit(tx, { ...entry, detail: { name: monitor.name }, result: 'created' }, now);
          return monitor;
        }),
      );
      if (!saved.ok) return creationPage(deps, visit, { kind, id, fields, issues: saved.issues });
      for (const queue of ['deliver', 'mail']) management.wakeUp.ring(queue);
      return saved.value === undefined || saved.value.url === null
        ? monitorAddress(id)
        : secretPage(visit, saved.value, reader.text('monitor.made', { name: saved.value.name }));
    },
  });
}

function newMonitor(tx: Tx, fields: Fields, context: MonitorContext): Promise<Monitor> {
  const patch = patchOf(textsIn(fields), NEW_MONITOR, fields);
  const enabled = fieldValue(fields, 'inactive') === '';
  const input = { ...patch, name: patch.name ?? '', enabled };
  requireListener({ provider: null, url: input.url ?? null, emails: input.emails ?? [] });
  return createMonitor(tx, input, context);
}

function newJob(tx: Tx, fields: Fields, context: MonitorContext): Promise<Monitor> {
  const { name, ...patch } = patchOf(textsIn(fields), NEW_MONITOR, fields);
  if (patch.url === undefined) throw new MonitorError([{ path: '/url', message: 'is missing' }]);
  const provider = fieldValue(fields, 'provider').trim();
  const named = name === undefined || name === '' ? {} : { name };
  const input = {
    ...patch,
    ...named,
    provider,
    key: fieldValue(fields, 'owner'),
    enabled: fieldValue(fields, 'inactive') === '',
  };
  return createJob(tx, input, context);
}

interface CreationForm {
  readonly kind: MonitorKind;
  readonly id: string;
  readonly fields: Fields;
  readonly issues?: MonitorError['issues'];
}

async function creationPage(
  { store, management }: ServicePageDeps,
  visit: Visit,
  { kind, id, fields, issues = [] }: CreationForm,
): Promise<PageBody> {
  const { reader } = visit;
  const title = reader.text(`listCreate.${kind}`);
  return {
    title,
    ...(issues.length > 0 && { status: 422 }),
    body: monitorForm(visit, {
      texts: fields.length === 0 ? NEW_MONITOR : textsIn(fields),
      wire: management.monitorOptions,
      action: `/${kind}`,
      back: `/${kind}`,
      submit: title,
      hiddenFields: { id },
      isJob: kind === 'jobs',
      isNew: true,
      more: kind === 'jobs' && (await jobFields(store.db, reader, fields)),
      issues,
    }),
  };
}

function addEdit(app: Server, deps: ServicePageDeps): void {
  const { store, management } = deps;
  const { secrets } = management;
  addPage(app, deps, {
    path: '/monitors/:id/edit',
    role: 'admin',
    async show(visit) {
      const monitor = await getMonitor(store.db, secrets, visit.param('id'));
      return monitor && editPage(deps, visit, monitor);
    },
  });
  addAction(app, deps, {
    path: '/monitors/:id/edit',
    role: 'admin',
    async run(visit, fields) {
      const { visitor, param, now } = visit;
      const id = param('id');
      const shown = unpackTexts(fieldValue(fields, 'shown'));
      const patch = patchOf(textsIn(fields, shown), shown, fields);
      const context = { secrets, now, options: management.monitorOptions };
      const saved = await saving(() =>
        store.write(async (tx) => {
          const monitor = await updateMonitor(tx, id, patch, context);
          if (monitor === undefined || Object.keys(patch).length === 0) return monitor;
          if (patch.url !== undefined || patch.emails !== undefined) requireListener(monitor);
          const entry = { actor: visitor.actor, via: 'page', action: 'monitor.update', subject: id } as const;
          await recordAudit(tx, { ...entry, detail: { changed: Object.keys(patch) }, result: 'changed' }, now);
          return monitor;
        }),
      );
      const monitor = saved.ok ? saved.value : await getMonitor(store.db, secrets, id);
      if (monitor === undefined) return notFoundPage(visit.reader);
      if (!saved.ok) return editPage(deps, visit, monitor, { fields, issues: saved.issues });
      management.wakeUp.ring('deliver');
      return monitorAddress(id);
    },
  });
}

function editPage(
  { management }: ServicePageDeps,
  visit: Visit,
  monitor: Monitor,
  { fields = [], issues = [] }: Partial<Pick<CreationForm, 'fields' | 'issues'>> = {},
): PageBody {
  const { reader } = visit;
  const texts = textsOf(monitor);
  return {
    title: reader.text('monitor.editTitle', { name: monitor.name }),
    ...(issues.length > 0 && { status: 422 }),
    body: monitorForm(visit, {
      texts: fields.length === 0 ? texts : textsIn(fields, texts),
      wire: management.monitorOptions,
      action: `${monitorAddress(monitor.id)}/edit`,
      back: monitorAddress(monitor.id),
      submit: reader.text('monitor.save'),
      hiddenFields: { shown: fieldValue(fields, 'shown') || packTexts(texts) },
      isJob: monitor.provider !== null,
      isNew: false,
      issues,
    }),
  };
}

type Saved<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: MonitorError['issues'] };

/** What is wrong with a form is for its page to say. */
async function saving<T>(work: () => Promise<T>): Promise<Saved<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof MonitorError)) throw error;
    return { ok: false, issues: error.issues };
  }
}

/** Shows the newest signing secret, which no other page does. */
export function secretPage(visit: Visit, monitor: Monitor, done: Markup): PageBody {
  const { reader } = visit;
  return {
    title: monitor.name,
    body: html`<p>${done}</p>
      ${secretNotice(visit, reader.text('monitor.secret'), monitor.security.secrets[0]?.secret ?? '')}
      <p><a href=${monitorAddress(monitor.id)}>${reader.text('monitor.toPage')}</a></p>`,
  };
}
