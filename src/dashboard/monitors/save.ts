import type { Server } from '../../http/server/server.ts';
import type { Refused } from '../../operations/definition/operation.ts';
import { createJob } from '../../operations/service/jobs.ts';
import { createMonitor, updateMonitor } from '../../operations/service/monitors.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { secretNotice } from '../page/confirmation.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { notFoundPage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addForm, idIn } from '../routes/operation-form.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { monitorForm } from './form.ts';
import { NEW_MONITOR, packTexts, patchOf, textsIn, textsOf, unpackTexts } from './form-fields.ts';
import { jobFields } from './job-fields.ts';
import type { MonitorKind } from './list.ts';

export function addMonitorForms(app: Server, deps: ServicePageDeps): void {
  addCreation(app, deps, 'monitors');
  addCreation(app, deps, 'jobs');
  addEdit(app, deps);
}

function addCreation(app: Server, deps: ServicePageDeps, kind: MonitorKind): void {
  addPage(app, deps, {
    path: `/${kind}/new`,
    role: 'admin',
    show: (visit) => creationPage(deps, visit, { kind, id: crypto.randomUUID(), fields: [] }),
  });
  const face = {
    path: `/${kind}`,
    caller: idIn,
    next: (visit: Visit, monitor: Monitor) =>
      monitor.url === null
        ? monitorAddress(monitor.id)
        : secretPage(visit, monitor, visit.reader.text('monitor.made', { name: monitor.name })),
    refused(visit: Visit, { kind: why, issues }: Refused, fields: Fields) {
      const id = fieldValue(fields, 'id');
      // The form was sent twice: the first answer shows the secret.
      if (why === 'conflict') return monitorAddress(id);
      return creationPage(deps, visit, { kind, id, fields, issues });
    },
  };
  if (kind === 'jobs') addForm(app, deps, createJob, { ...face, input: (_visit, fields) => jobIn(fields) });
  else addForm(app, deps, createMonitor, { ...face, input: (_visit, fields) => monitorIn(fields) });
}

function monitorIn(fields: Fields) {
  const patch = patchOf(textsIn(fields), NEW_MONITOR, fields);
  return { ...patch, name: patch.name ?? '', enabled: fieldValue(fields, 'inactive') === '' };
}

function jobIn(fields: Fields) {
  const { name = '', ...patch } = patchOf(textsIn(fields), NEW_MONITOR, fields);
  return {
    ...patch,
    ...(name !== '' && { name }),
    provider: fieldValue(fields, 'provider').trim(),
    key: fieldValue(fields, 'owner'),
    enabled: fieldValue(fields, 'inactive') === '',
  };
}

interface CreationForm {
  readonly kind: MonitorKind;
  readonly id: string;
  readonly fields: Fields;
  readonly issues?: Refused['issues'];
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
  addForm(app, deps, updateMonitor, {
    path: '/monitors/:id/edit',
    input({ param }, fields) {
      const shown = unpackTexts(fieldValue(fields, 'shown'));
      return { ...patchOf(textsIn(fields, shown), shown, fields), id: param('id') };
    },
    next: (_visit, { id }) => monitorAddress(id),
    async refused(visit, { issues }, fields) {
      const monitor = await getMonitor(store.db, secrets, visit.param('id'));
      return monitor === undefined ? notFoundPage(visit.reader) : editPage(deps, visit, monitor, { fields, issues });
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
