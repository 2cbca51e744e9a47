/** Operations on monitors, and on jobs, which are monitors of a provider. */
import Type from 'typebox';
import { digestOf } from '../../runtime/operators/operators.ts';
import { replayHeld } from '../../service/delivery/deliveries.ts';
import { addItem } from '../../service/items/items.ts';
import type { Secrets } from '../../service/keys/secrets.ts';
import { resumeMail } from '../../service/mail/stopped-mails.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { checkMonitor, type MonitorOptions, requireListener } from '../../service/monitors/monitor-input.ts';
import { type MonitorRow, readMonitor } from '../../service/monitors/monitor-row.ts';
import * as stored from '../../service/monitors/monitors.ts';
import { EXAMPLE_ID, entityIdText, plainText } from '../../service/routes/schemas.ts';
import type { Tx } from '../../store/store.ts';
import { readListed } from '../definition/entities.ts';
import { defineOperation, type Moment, Refused, unknown } from '../definition/operation.ts';
import {
  createdMonitorView,
  enabled,
  monitorView,
  settings,
  target,
  viewOf,
  viewOfCreated,
  viewWithSecret,
  withSecret,
} from './monitor-view.ts';

export interface MonitorNeeds {
  readonly secrets: Secrets;
  /** How monitors are validated and shown. */
  readonly options: MonitorOptions;
}

const ADMIN = { role: 'admin' } as const;
const REFUSALS = { 404: 'There is no such monitor' } as const;

export const monitorId = plainText('The id of the monitor', { example: EXAMPLE_ID });
const one = Type.Object({ id: monitorId });

/** Locks a monitor until the transaction ends; refuses an unknown id. */
export async function needMonitor(tx: Tx, id: string): Promise<MonitorRow> {
  const row = await stored.lockMonitor(tx, id);
  if (row === undefined) throw unknown('monitor');
  return row;
}

export const createMonitor = defineOperation({
  ...ADMIN,
  name: 'monitor.create',
  about: 'create a monitor',
  more: 'The monitor is enabled unless `enabled` is false. If it has a webhook, this answer holds the signing secret; no later answer does.',
  input: Type.Object({
    name: plainText('The name of the monitor', { maxLength: 200 }),
    target: Type.Optional(target),
    entities: Type.Optional(
      Type.Array(entityIdText('A company or person of its list'), { maxItems: 1_000, description: 'Its list' }),
    ),
    enabled,
    ...settings,
  }),
  rings: ['deliver', 'mail'],
  api: {
    method: 'POST',
    path: '/monitors',
    operationId: 'createMonitor',
    status: 201,
    answer: createdMonitorView,
    examples: [
      {
        name: 'Our customers',
        target: 'items',
        entities: ['CVR-1-10000001'],
        events: ['name', 'address', 'status'],
        url: 'https://hooks.example.com/cvr',
        credentials: { method: 'Bearer', token: 'a-token-of-theirs' },
        emails: ['sales@example.com'],
        mailFrequency: 'daily',
      },
    ],
    refusals: { 422: 'The monitor is not valid; `errors` names each problem' },
  },
  check: (input, { options }: MonitorNeeds) => checkMonitor(input, options),
  async change(tx, { entities = [], ...input }, context) {
    const { id, now } = context;
    const listed = entities.map((entity, at) => readListed(entity, `/entities/${at}`));
    if (id !== undefined && (await stored.lockMonitor(tx, id)) !== undefined)
      throw new Refused('conflict', 'the monitor is there already');
    const monitor = await stored.createMonitor(tx, input, context);
    requireListener(monitor);
    for (const entity of listed)
      await addItem(tx, { monitor: monitor.id, entity, recordId: '', sendUpdate: false, now });
    return { value: monitor, audit: { subject: monitor.id, detail: { name: monitor.name }, result: 'created' } };
  },
  view: (monitor: Monitor, { options }: MonitorNeeds) => viewOfCreated(monitor, options),
});

export const listMonitors = defineOperation({
  role: 'viewer',
  name: 'monitor.list',
  about: 'list monitors by id',
  more: 'The list includes third-party jobs. Page with `after`.',
  input: Type.Object({
    after: Type.Optional(plainText('Only monitors after this id', { example: EXAMPLE_ID })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'How many at most' })),
  }),
  api: {
    method: 'GET',
    path: '/monitors',
    operationId: 'listMonitors',
    status: 200,
    answer: Type.Array(monitorView, { description: 'The monitors' }),
  },
  read: async (db, filter, { secrets }: MonitorNeeds) => ({ value: await stored.listMonitors(db, secrets, filter) }),
  view: (monitors: readonly Monitor[], { options }: MonitorNeeds) => monitors.map((each) => viewOf(each, options)),
});

export const getMonitor = defineOperation({
  role: 'viewer',
  name: 'monitor.show',
  about: 'show one monitor in full, without its secrets',
  input: one,
  api: {
    method: 'GET',
    path: '/monitors/:id',
    operationId: 'getMonitor',
    status: 200,
    answer: monitorView,
    refusals: REFUSALS,
  },
  async read(db, { id }, { secrets }: MonitorNeeds) {
    const monitor = await stored.getMonitor(db, secrets, id);
    if (monitor === undefined) throw unknown('monitor');
    return { value: monitor };
  },
  view: (monitor: Monitor, { options }: MonitorNeeds) => viewOf(monitor, options),
});

export const updateMonitor = defineOperation({
  ...ADMIN,
  name: 'monitor.update',
  about: 'change the given settings of a monitor, and leave the others',
  more: 'The target of a job is always its items.',
  input: Type.Object({
    id: monitorId,
    name: Type.Optional(plainText('The name of the monitor', { maxLength: 200 })),
    target: Type.Optional(target),
    ...settings,
  }),
  rings: ['deliver'],
  api: {
    method: 'PATCH',
    path: '/monitors/:id',
    operationId: 'updateMonitor',
    status: 200,
    answer: monitorView,
    examples: [{ events: ['name', 'newReport'], schedule: [0, 60, 3_600] }],
    refusals: { ...REFUSALS, 422: 'The monitor is not valid; `errors` names each problem' },
  },
  check: (input, { options }: MonitorNeeds) => checkMonitor(input, options),
  async change(tx, { id, ...patch }, context) {
    const row = await needMonitor(tx, id);
    const changed = Object.keys(patch);
    if (changed.length === 0) return { value: readMonitor(row, context.secrets) };
    const monitor = await stored.updateMonitor(tx, id, patch, context);
    if (monitor === undefined) throw unknown('monitor');
    if (patch.url !== undefined || patch.emails !== undefined) requireListener(monitor);
    return { value: monitor, audit: { subject: id, detail: { name: monitor.name, changed }, result: 'changed' } };
  },
  view: (monitor: Monitor, { options }: MonitorNeeds) => viewOf(monitor, options),
});

export const removeMonitor = defineOperation({
  ...ADMIN,
  name: 'monitor.remove',
  about: 'remove a monitor with its list; pending deliveries are dropped',
  input: one,
  api: {
    method: 'DELETE',
    path: '/monitors/:id',
    operationId: 'removeMonitor',
    status: 204,
    answer: 'The monitor is removed',
    refusals: REFUSALS,
  },
  async change(tx, { id }, { now }) {
    const { name, provider } = await needMonitor(tx, id);
    await stored.removeMonitor(tx, id, now);
    return { value: { id, isJob: provider !== null }, audit: { subject: id, detail: { name }, result: 'removed' } };
  },
});

export const activateMonitor = defineOperation({
  ...ADMIN,
  name: 'monitor.activate',
  about: 'switch a monitor on; held deliveries stay held until a replay, or are sent at once if asked',
  input: Type.Object({
    id: monitorId,
    replay: Type.Boolean({
      default: false,
      description: 'Send what is held, before any later change; if the monitor is on already, too',
    }),
  }),
  rings: ['deliver'],
  api: {
    method: 'POST',
    path: '/monitors/:id/activate',
    operationId: 'activateMonitor',
    status: 204,
    answer: 'The monitor is on, now or before',
    hasQuery: true,
    refusals: REFUSALS,
  },
  async change(tx, { id, replay }, { now }) {
    const { name, enabled: wasOn } = await needMonitor(tx, id);
    await stored.activate(tx, id, now);
    const replayed = replay ? await replayHeld(tx, id, now) : 0;
    const value = { id, enabled: true, replayed };
    if (wasOn === 1 && replayed === 0) return { value };
    return { value, audit: { subject: id, detail: { name, ...(replay && { replayed }) }, result: 'on' } };
  },
});

export const disableMonitor = defineOperation({
  ...ADMIN,
  name: 'monitor.disable',
  about: 'switch a monitor off; its deliveries are held for 14 days',
  input: one,
  api: {
    method: 'POST',
    path: '/monitors/:id/disable',
    operationId: 'disableMonitor',
    status: 204,
    answer: 'The monitor is off, now or before',
    refusals: REFUSALS,
  },
  async change(tx, { id }, { now }) {
    const { name } = await needMonitor(tx, id);
    const isChanged = await stored.disable(tx, id, 'person', now);
    const value = { id, enabled: false };
    return isChanged ? { value, audit: { subject: id, detail: { name }, result: 'off' } } : { value };
  },
});

/** A digest of a monitor's newest secret: the version that a caller saw. */
export const secretVersion = ({ security }: Pick<Monitor, 'security'>): string =>
  digestOf(security.secrets[0]?.secret ?? '').slice(0, 16);

export const rotateSecret = defineOperation({
  ...ADMIN,
  name: 'monitor.rotate-secret',
  about: 'give a monitor a new signing secret; for 24 hours posts are signed with the old one too',
  more: 'This answer holds the new secret; no later answer does.',
  input: one,
  api: {
    method: 'POST',
    path: '/monitors/:id/rotate-secret',
    operationId: 'rotateSecret',
    status: 200,
    answer: withSecret,
    refusals: REFUSALS,
  },
  async change(tx, { id }, { secrets, seen, now }: MonitorNeeds & Moment) {
    const monitor = readMonitor(await needMonitor(tx, id), secrets);
    if (seen !== undefined && seen !== secretVersion(monitor))
      throw new Refused('conflict', 'the monitor has another secret by now');
    const rotated = await stored.rotateSecret(tx, secrets, id, now);
    if (rotated === undefined) throw unknown('monitor');
    return { value: rotated, audit: { subject: id, detail: { name: monitor.name }, result: 'rotated' } };
  },
  view: (monitor: Monitor, { options }: MonitorNeeds) => viewWithSecret(monitor, options),
});

export const resumeMonitorMail = defineOperation({
  ...ADMIN,
  name: 'monitor.resubscribe',
  about: 'resume mail to an address that unsubscribed or bounced, from the next change on',
  input: Type.Object({
    id: monitorId,
    recipient: plainText('The address, as the monitor shows it', { maxLength: 254, example: 'sales@example.com' }),
  }),
  api: {
    method: 'POST',
    path: '/monitors/:id/resubscribe',
    operationId: 'resubscribeRecipient',
    status: 200,
    answer: Type.Object({
      id: monitorId,
      recipient: Type.String(),
      emails: Type.Array(Type.String(), { description: 'All recipients of the monitor' }),
    }),
    examples: [{ recipient: 'sales@example.com' }],
    refusals: { ...REFUSALS, 409: 'The address has neither unsubscribed nor bounced' },
  },
  async change(tx, { id, recipient }, { secrets, now }: MonitorNeeds & Moment) {
    const monitor = readMonitor(await needMonitor(tx, id), secrets);
    if (!(await resumeMail(tx, id, recipient, now)))
      throw new Refused('conflict', `${recipient} has neither unsubscribed nor bounced`);
    const audit = { subject: id, detail: { name: monitor.name }, result: `mail to ${recipient} goes on` };
    return { value: { id, recipient, emails: monitor.emails }, audit };
  },
});
