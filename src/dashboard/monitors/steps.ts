/** The actions on a monitor, each with a page that asks first. */
import type { Server } from '../../http/server/server.ts';
import { moveJob } from '../../operations/service/jobs.ts';
import {
  activateMonitor,
  disableMonitor,
  removeMonitor,
  resumeMonitorMail,
  rotateSecret,
  secretVersion,
} from '../../operations/service/monitors.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { messagePage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { jobKeys, keySelect } from './job-fields.ts';
import { secretPage } from './save.ts';
import { addMonitorTest } from './test.ts';

export function addMonitorSteps(app: Server, deps: ServicePageDeps): void {
  addConfirmations(app, deps);
  addSwitches(app, deps);
  addRotation(app, deps);
  addMonitorTest(app, deps);
}

const STEPS = ['rotate', 'disable', 'move', 'remove'] as const;
type Step = (typeof STEPS)[number];

/** The page before each action: what it does, and its fields. */
function addConfirmations(app: Server, deps: ServicePageDeps): void {
  const { store, management } = deps;
  for (const step of STEPS)
    addPage(app, deps, {
      path: `/monitors/:id/${step}`,
      role: 'admin',
      async show(visit) {
        const { reader, param } = visit;
        const monitor = await getMonitor(store.db, management.secrets, param('id'));
        if (monitor === undefined) return undefined;
        const address = monitorAddress(monitor.id);
        return confirmationPage(visit, {
          title: reader.text(`stepTitle.${step}`, { name: monitor.name }),
          help: html`<p>${reader.text(`stepHelp.${step}`)}</p> ${await more(deps, visit, monitor, step)}`,
          action: `${address}/${step}`,
          fields: step === 'rotate' ? { seen: secretVersion(monitor) } : {},
          submit: reader.text(`stepSubmit.${step}`),
          back: address,
        });
      },
    });
}

async function more({ store }: ServicePageDeps, { reader }: Visit, { owner }: Monitor, step: Step): Promise<Markup> {
  return step === 'move' && keySelect(reader, await jobKeys(store.db), owner ?? '');
}

/** A second time, each changes nothing. */
function addSwitches(app: Server, deps: ServicePageDeps): void {
  const next = ({ param }: Visit) => monitorAddress(param('id'));
  addForm(app, deps, activateMonitor, { path: '/monitors/:id/activate', next });
  addForm(app, deps, disableMonitor, { path: '/monitors/:id/disable', next });
  addForm(app, deps, removeMonitor, {
    path: '/monitors/:id/remove',
    next: (_visit, { isJob }) => (isJob ? '/jobs' : '/monitors'),
    refused: (_visit, { kind }) => (kind === 'unknown' ? '/monitors' : undefined),
  });
  addForm(app, deps, moveJob, { path: '/monitors/:id/move', names: { key: 'owner' }, next });
  addForm(app, deps, resumeMonitorMail, {
    path: '/monitors/:id/resubscribe',
    next,
    refused: (visit, { kind }) => (kind === 'conflict' ? next(visit) : undefined),
  });
}

function addRotation(app: Server, deps: ServicePageDeps): void {
  addForm(app, deps, rotateSecret, {
    path: '/monitors/:id/rotate',
    caller: (fields) => ({ seen: fieldValue(fields, 'seen') }),
    next: (visit, rotated) => secretPage(visit, rotated, visit.reader.text('rotate.done')),
    refused: ({ reader }, { kind }) =>
      kind === 'conflict'
        ? messagePage(reader, { status: 409, title: reader.text('rotate.already'), help: reader.text('rotate.again') })
        : undefined,
  });
}
