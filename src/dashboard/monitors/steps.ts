/** What can be done with a monitor: each with a page that says what will happen, and an action. */
import type { Server } from '../../http/server/server.ts';
import { digestOf } from '../../runtime/operators/operators.ts';
import { replayHeld } from '../../service/delivery/deliveries.ts';
import { resumeMail } from '../../service/mail/stopped-mails.ts';
import { moveJob } from '../../service/monitors/jobs.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { MonitorError } from '../../service/monitors/monitor-input.ts';
import { activate, disable, getMonitor, removeMonitor, rotateSecret } from '../../service/monitors/monitors.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { messagePage, notFoundPage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type ServicePageDeps } from '../routes/routes.ts';
import { changeMonitor } from './change.ts';
import { jobKeys, keySelect } from './job-fields.ts';
import { secretPage } from './save.ts';
import { addMonitorTest } from './test.ts';

/** Adds them. */
export function addMonitorSteps(app: Server, deps: ServicePageDeps): void {
  addConfirmations(app, deps);
  addSwitches(app, deps);
  addRotation(app, deps);
  addMonitorTest(app, deps);
  addMove(app, deps);
  addResubscription(app, deps);
}

const STEPS = ['rotate', 'disable', 'move', 'remove'] as const;
type Step = (typeof STEPS)[number];

/** The page before each step: what it does, and what it asks for. */
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
          fields: step === 'rotate' ? { seen: secretDigest(monitor) } : {},
          submit: reader.text(`stepSubmit.${step}`),
          back: address,
        });
      },
    });
}

async function more({ store }: ServicePageDeps, { reader }: Visit, { owner }: Monitor, step: Step): Promise<Markup> {
  return step === 'move' && keySelect(reader, await jobKeys(store.db), owner ?? '');
}

/** Switches on and off, and removes: done twice, the second time changes nothing. */
function addSwitches(app: Server, deps: ServicePageDeps): void {
  const { wakeUp } = deps.management;
  addAction(app, deps, {
    path: '/monitors/:id/activate',
    role: 'admin',
    async run(visit, fields) {
      const done = await changeMonitor(deps, visit, 'monitor.activate', async (tx, { id, enabled }) => {
        if (enabled) return undefined;
        await activate(tx, id, visit.now);
        if (fieldValue(fields, 'replay') === 'yes') await replayHeld(tx, id, visit.now);
        return 'on';
      });
      wakeUp.ring('deliver');
      return done === 'unknown' ? notFoundPage(visit.reader) : monitorAddress(visit.param('id'));
    },
  });
  addAction(app, deps, {
    path: '/monitors/:id/disable',
    role: 'admin',
    async run(visit) {
      const done = await changeMonitor(deps, visit, 'monitor.disable', async (tx, { id }) =>
        (await disable(tx, id, 'person', visit.now)) ? 'off' : undefined,
      );
      return done === 'unknown' ? notFoundPage(visit.reader) : monitorAddress(visit.param('id'));
    },
  });
  addAction(app, deps, {
    path: '/monitors/:id/remove',
    role: 'admin',
    async run(visit) {
      let list = '/monitors';
      await changeMonitor(deps, visit, 'monitor.remove', async (tx, { id, provider }) => {
        if (provider !== null) list = '/jobs';
        return (await removeMonitor(tx, id, visit.now)) ? 'removed' : undefined;
      });
      return list;
    },
  });
}

/** Names the newest secret of a monitor without telling it. */
const secretDigest = ({ security }: Monitor): string => digestOf(security.secrets[0]?.secret ?? '').slice(0, 16);

function addRotation(app: Server, deps: ServicePageDeps): void {
  const { secrets } = deps.management;
  addAction(app, deps, {
    path: '/monitors/:id/rotate',
    role: 'admin',
    async run(visit, fields) {
      const { reader, now } = visit;
      let rotated: Monitor | undefined;
      const done = await changeMonitor(deps, visit, 'monitor.rotate-secret', async (tx, monitor) => {
        if (fieldValue(fields, 'seen') !== secretDigest(monitor)) return undefined;
        rotated = await rotateSecret(tx, secrets, monitor.id, now);
        return 'rotated';
      });
      if (done === 'unknown') return notFoundPage(reader);
      if (rotated !== undefined) return secretPage(visit, rotated, reader.text('rotate.done'));
      return messagePage(reader, {
        status: 409,
        title: reader.text('rotate.already'),
        help: reader.text('rotate.again'),
      });
    },
  });
}

function addMove(app: Server, deps: ServicePageDeps): void {
  addAction(app, deps, {
    path: '/monitors/:id/move',
    role: 'admin',
    async run(visit, fields) {
      const { reader, now, param } = visit;
      const key = fieldValue(fields, 'owner');
      try {
        const done = await changeMonitor(deps, visit, 'job.move', async (tx, { id, owner }) => {
          if (owner === key) return undefined;
          return (await moveJob(tx, id, key, now)) === undefined ? undefined : `moved to the key ${key}`;
        });
        return done === 'unknown' ? notFoundPage(reader) : monitorAddress(param('id'));
      } catch (error) {
        if (!(error instanceof MonitorError)) throw error;
        return messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: error.message });
      }
    },
  });
}

function addResubscription(app: Server, deps: ServicePageDeps): void {
  addAction(app, deps, {
    path: '/monitors/:id/resubscribe',
    role: 'admin',
    async run(visit, fields) {
      const recipient = fieldValue(fields, 'recipient');
      const done = await changeMonitor(deps, visit, 'monitor.resubscribe', async (tx, { id }) =>
        (await resumeMail(tx, id, recipient, deps.now())) ? `mail to ${recipient} goes on` : undefined,
      );
      return done === 'unknown' ? notFoundPage(visit.reader) : monitorAddress(visit.param('id'));
    },
  });
}
