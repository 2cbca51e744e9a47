/** What can be done with a monitor: each with a page that says what will happen, and an action. */
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { digestOf } from '../../runtime/operators/operators.ts';
import type { TestResult } from '../../service/delivery/test-webhook.ts';
import { resumeMail } from '../../service/mail/stopped-mails.ts';
import { moveJob } from '../../service/monitors/jobs.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { MonitorError } from '../../service/monitors/monitor-input.ts';
import { activate, disable, getMonitor, removeMonitor, rotateSecret } from '../../service/monitors/monitors.ts';
import { fieldValue } from '../access/fields.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { messagePage, notFoundPage } from '../page/messages.ts';
import { state } from '../page/parts.ts';
import { addAction, addPage, type ServicePageDeps, type Visit } from '../routes.ts';
import { changeMonitor } from './change.ts';
import { entityOf, unreadable } from './items.ts';
import { jobKeys, keySelect } from './job-fields.ts';
import { secretPage } from './save.ts';
import { monitorAddress } from './shown.ts';

/** Adds them. */
export function addMonitorSteps(app: Server, deps: ServicePageDeps): void {
  addConfirmations(app, deps);
  addSwitches(app, deps);
  addRotation(app, deps);
  addTest(app, deps);
  addMove(app, deps);
  addResubscription(app, deps);
}

const STEPS = ['test', 'rotate', 'disable', 'move', 'remove'] as const;
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
  if (step === 'move') return keySelect(reader, await jobKeys(store.db), owner ?? '');
  if (step !== 'test') return null;
  return html`<div class="narrow">
    <label for="entity">${reader.text('test.entity')}</label>
    <input id="entity" name="entity" autocomplete="off" />
  </div>`;
}

/** Switches on and off, and removes: done twice, the second time changes nothing. */
function addSwitches(app: Server, deps: ServicePageDeps): void {
  const { wakeUp } = deps.management;
  addAction(app, deps, {
    path: '/monitors/:id/activate',
    role: 'admin',
    async run(visit) {
      const done = await changeMonitor(deps, visit, 'monitor.activate', async (tx, { id, enabled }) => {
        if (enabled) return undefined;
        await activate(tx, id, visit.now);
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

function addTest(app: Server, deps: ServicePageDeps): void {
  const { store, management } = deps;
  addAction(app, deps, {
    path: '/monitors/:id/test',
    role: 'admin',
    async run(visit, fields) {
      const { reader, param, visitor, now } = visit;
      const monitor = await getMonitor(store.db, management.secrets, param('id'));
      if (monitor === undefined) return notFoundPage(reader);
      const asked = fieldValue(fields, 'entity').trim();
      const entity = asked === '' ? undefined : entityOf(asked);
      if (entity === undefined && asked !== '') return unreadable(visit);
      const test = await management.testMonitor(monitor, entity);
      if (test.kind !== 'posted')
        return messagePage(reader, {
          status: 422,
          title: reader.text('test.none'),
          help: reader.text(`test.${test.kind}`),
        });
      const { failure, message } = test.result;
      const entry = { actor: visitor.actor, via: 'page', action: 'monitor.test', subject: monitor.id } as const;
      const result = failure === null ? message : `${failure}: ${message}`.slice(0, 500);
      await store.write((tx) => recordAudit(tx, { ...entry, result }, now));
      return testPage(visit, monitor, test.result);
    },
  });
}

function testPage(
  { reader }: Visit,
  { id, name }: Monitor,
  { failure, status, took, message, answer }: TestResult,
): PageBody {
  const isTaken = failure === null;
  return {
    title: reader.text('stepTitle.test', { name }),
    body: html`<div class=${`notice ${isTaken ? 'ok' : 'bad'}`} role="status">
        <p>${state(isTaken ? 'ok' : 'bad', html`<strong>${reader.text(isTaken ? 'test.taken' : 'test.failed')}</strong>`)}</p>
        ${!isTaken && html`<p lang="en">${message}</p>`}
      </div>
      <dl class="facts">
        ${status !== null && html`<dt>${reader.text('attempt.status')}</dt><dd>${String(status)}</dd>`}
        <dt>${reader.text('attempt.took')}</dt><dd>${reader.latency(took)}</dd>
        ${answer !== '' && html`<dt>${reader.text('attempt.body')}</dt><dd><pre class="payload" tabindex="0">${answer}</pre></dd>`}
      </dl>
      <p class="actions">
        <a href=${`${monitorAddress(id)}/test`}>${reader.text('test.again')}</a>
        <a href=${monitorAddress(id)}>${reader.text('monitor.toPage')}</a>
      </p>`,
  };
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
        (await resumeMail(tx, id, recipient)) ? `mail to ${recipient} goes on` : undefined,
      );
      return done === 'unknown' ? notFoundPage(visit.reader) : monitorAddress(visit.param('id'));
    },
  });
}
