/** What the contract asks of each operation, on each face that has it. */
import { listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { endMail } from '../../src/service/mail/stopped-mails.ts';
import { activate, disable } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { writeValue } from '../../src/store/kv.ts';
import { openHook, statuses } from '../service/delivering.ts';
import { COMPANY, changed, listed } from '../service/monitored.ts';
import { type Case, NEW } from './case.ts';
import type { Asked, Faces } from './faces.ts';
import { OPERATOR_CASES } from './operator-cases.ts';
import { RECORD_CASES } from './record-cases.ts';
import { REVIEW_CASES } from './review-cases.ts';
import { RUN_CASES } from './run-cases.ts';

const HOOK = 'https://hooks.example.com/cvr';
const RECIPIENT = 'ida@example.com';

const monitor = async (faces: Faces): Promise<readonly [string]> => [(await faces.make()).id];
const key = async ({ store }: Faces): Promise<string> =>
  (await store.write((tx) => createKey(tx, { name: 'Nordlys', scopes: ['monitoring'] }, 1))).id;
const keyWithJob = async (faces: Faces): Promise<readonly [string]> => {
  const owner = await key(faces);
  await faces.make({ owner, provider: 'hubspot' });
  return [owner];
};
const job = async (faces: Faces): Promise<readonly [string, string]> => {
  const [owner, other] = [await key(faces), await key(faces)];
  return [(await faces.make({ owner, provider: 'hubspot' })).id, other];
};
/** A monitor that was off while something changed, and is on again if asked. */
const holding =
  (isOn: boolean) =>
  async (faces: Faces): Promise<readonly [string]> => {
    const { id } = await faces.make({ target: 'all' });
    await faces.store.write(async (tx) => {
      await disable(tx, id, 'person', 2);
      await publish(tx, [changed({ only: id })], { now: 3 });
      if (isOn) await activate(tx, id, 4);
    });
    return [id];
  };

/** A change of a connection that waits, and a former version with other rules. */
const waiting =
  (id: string) =>
  async ({ store, rules }: Faces): Promise<readonly [string]> => {
    const [file] = rules();
    const other = { ...file, mapping: [] };
    const content = JSON.stringify({ connector: { 'providers.hubspot.mapping': other } });
    const digests = JSON.stringify({ connector: {} });
    await store.write(async (tx) => {
      for (const version of [3, 4])
        await tx
          .insertInto('config_version')
          .values({ id: version, digest: 'd', accepted_at: 1, accepted_by: 'ida', digests, content })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      const accepted = { rules: id === 'hubspot' ? other : file, by: 'ida', at: 1 };
      await writeValue(tx, 'rules:hubspot', JSON.stringify(accepted), 1);
    });
    return [id];
  };

const SETTINGS = {
  command: ['--url', HOOK, '--event', 'status', '--bearer', 't', '--schedule', '0,60', '--posts-per-minute', '90'],
  api: {
    ...{ url: HOOK, events: ['status'], credentials: { method: 'Bearer', token: 't' }, schedule: [0, 60] },
    postsPerMinute: 90,
  },
  page: {
    ...{ url: HOOK, scope: 'chosen', events: 'status', method: 'Bearer', secret: 't', schedule: '0, 60' },
    postsPerMinute: '90',
  },
} as const;

/** The form of a step on the page of a monitor. */
export const step = (id: string, name: string, fields: Readonly<Record<string, string>> = {}) =>
  [`/monitors/${id}/${name}`, fields] as const;

const activation = (id: string): Asked => ({
  command: ['monitors', 'activate', id, '--replay'],
  api: ['POST', `/monitors/${id}/activate?replay=true`],
  page: step(id, 'activate', { replay: 'yes' }),
});

export const CASES: readonly Case[] = [
  {
    operation: 'config.apply',
    what: 'what waits for a connection',
    make: waiting('hubspot'),
    ask: (id) => ({
      command: ['config', 'apply', id, '--yes'],
      api: ['POST', '/config/apply', { provider: id }],
      page: [`/connections/${id}/accept`, {}],
    }),
    result: 'accepted',
  },
  {
    operation: 'config.rollback',
    what: 'to a former version',
    make: waiting('3'),
    ask: (id) => ({
      command: ['config', 'rollback', id],
      api: ['POST', '/config/rollback', { version: Number(id) }],
      page: ['/installation/configuration/rollback', { version: id }],
    }),
    result: 'proposed',
  },
  {
    operation: 'monitor.create',
    what: 'with all settings',
    make: async () => NEW,
    ask: () => ({
      command: [
        'monitors',
        'create',
        ' Sales ',
        '--inactive',
        '--email',
        RECIPIENT,
        '--immediate',
        ...SETTINGS.command,
      ],
      api: [
        'POST',
        '/monitors',
        { name: ' Sales ', enabled: false, emails: [RECIPIENT], mailFrequency: 'immediate', ...SETTINGS.api },
      ],
      page: [
        '/monitors',
        {
          ...{ id: crypto.randomUUID(), name: ' Sales ', inactive: 'yes', emails: RECIPIENT },
          ...{ mailFrequency: 'immediate', ...SETTINGS.page },
        },
      ],
    }),
    result: 'created',
  },
  {
    operation: 'monitor.update',
    what: 'of a name and an address',
    make: monitor,
    ask: (id) => ({
      command: ['monitors', 'update', id, '--name', 'North', '--url', `${HOOK}/2`],
      api: ['PATCH', `/monitors/${id}`, { name: 'North', url: `${HOOK}/2` }],
      page: step(id, 'edit', { name: 'North', url: `${HOOK}/2`, method: 'keep' }),
    }),
    result: 'changed',
  },
  {
    operation: 'monitor.activate',
    what: 'that is off, with a replay',
    make: holding(false),
    ask: activation,
    result: 'on',
    again: 'unchanged',
  },
  {
    operation: 'monitor.activate',
    what: 'that is on, with a replay of what is still held',
    make: holding(true),
    ask: activation,
    result: 'on',
    again: 'unchanged',
  },
  {
    operation: 'monitor.activate',
    what: 'that is off, without a replay',
    make: holding(false),
    ask: (id) => ({
      command: ['monitors', 'activate', id],
      api: ['POST', `/monitors/${id}/activate`],
      page: step(id, 'activate'),
    }),
    result: 'on',
    again: 'unchanged',
  },
  {
    operation: 'monitor.disable',
    what: 'that is on',
    make: monitor,
    ask: (id) => ({
      command: ['monitors', 'disable', id],
      api: ['POST', `/monitors/${id}/disable`],
      page: step(id, 'disable'),
    }),
    result: 'off',
    again: 'unchanged',
  },
  {
    operation: 'monitor.rotate-secret',
    what: 'of its secret',
    make: monitor,
    ask: (id) => ({
      command: ['monitors', 'rotate-secret', id],
      api: ['POST', `/monitors/${id}/rotate-secret`],
      page: step(id, 'rotate', { seen: 'SEEN' }),
    }),
    result: 'rotated',
  },
  {
    operation: 'monitor.remove',
    what: 'with its list',
    async make(faces) {
      const [id] = await monitor(faces);
      await listed(faces.store, id, COMPANY);
      return [id];
    },
    ask: (id) => ({
      command: ['monitors', 'remove', id],
      api: ['DELETE', `/monitors/${id}`],
      page: step(id, 'remove'),
    }),
    result: 'removed',
    again: 404,
  },
  {
    operation: 'monitor.add-entities',
    what: 'by a CVR number in any spelling',
    make: monitor,
    ask: (id) => ({
      command: ['monitors', 'entities', 'add', id, 'DK 99 00 00 15', '--record', '7'],
      api: ['POST', `/monitors/${id}/items`, { entityId: 'DK 99 00 00 15', recordId: '7' }],
      page: step(id, 'items', { entity: 'DK 99 00 00 15', record: '7' }),
    }),
    result: `added ${COMPANY}`,
    again: 'unchanged',
  },
  {
    operation: 'monitor.remove-entities',
    what: 'that is listed',
    async make(faces) {
      const [id] = await monitor(faces);
      await listed(faces.store, id, COMPANY);
      return [id];
    },
    ask: (id) => ({
      command: ['monitors', 'entities', 'remove', id, COMPANY],
      api: ['DELETE', `/monitors/${id}/items?entityId=${COMPANY}`],
      page: step(id, 'items/remove', { entity: COMPANY, record: '' }),
    }),
    result: `removed ${COMPANY}`,
    again: 'unchanged',
  },
  {
    operation: 'monitor.resubscribe',
    what: 'of a recipient who unsubscribed',
    async make(faces) {
      const { id } = await faces.make({ emails: [RECIPIENT] });
      await faces.store.write((tx) => endMail(tx, id, RECIPIENT, { now: 1 }));
      return [id];
    },
    ask: (id) => ({
      command: ['monitors', 'resubscribe', id, RECIPIENT],
      api: ['POST', `/monitors/${id}/resubscribe`, { recipient: RECIPIENT }],
      page: step(id, 'resubscribe', { recipient: RECIPIENT }),
    }),
    result: `mail to ${RECIPIENT} goes on`,
    again: 409,
  },
  {
    operation: 'monitor.test',
    what: 'whose webhook does not take it',
    async make(faces) {
      const { url } = await openHook(statuses(500));
      return [(await faces.make({ url, enabled: false })).id];
    },
    ask: (id) => ({
      command: ['monitors', 'test', id],
      api: ['POST', `/monitors/${id}/test`],
      page: step(id, 'test', { entity: '', payload: '' }),
    }),
    result: 'status: answered 500',
  },
  {
    operation: 'job.create',
    what: 'of a provider, without a webhook',
    make: async (faces) => ['', await key(faces)],
    ask: (_id, owner) => ({
      command: ['jobs', 'create', 'hubspot', '--key', owner],
      api: ['POST', '/jobs', { provider: 'hubspot', key: owner }],
      page: ['/jobs', { id: crypto.randomUUID(), provider: 'hubspot', owner }],
    }),
    result: 'created',
  },
  {
    operation: 'job.move',
    what: 'to another key',
    make: job,
    ask: (id, other) => ({
      command: ['jobs', 'move', id, '--key', other],
      api: ['PATCH', `/jobs/${id}`, { key: other }],
      page: step(id, 'move', { owner: other }),
    }),
    result: 'moved to the key ANOTHER',
    again: 'unchanged',
  },
  {
    operation: 'job.remove',
    what: 'of a key',
    make: job,
    ask: (id) => ({ command: ['jobs', 'remove', id], api: ['DELETE', `/jobs/${id}`] }),
    result: 'removed',
    again: 404,
  },
  {
    operation: 'delivery.drop',
    what: 'of what is held for a company',
    make: holding(true),
    ask: (monitor) => ({
      command: ['deliveries', 'drop', '--monitor', monitor, '--entity', 'DK 99 00 00 15', '--yes'],
      api: ['POST', '/deliveries/drop', { monitor, entity: COMPANY }],
    }),
    result: '1 dropped',
    again: 'unchanged',
  },
  {
    operation: 'delivery.send',
    what: 'that is held, of a monitor that is on',
    async make(faces) {
      const [id] = await holding(true)(faces);
      const [delivery] = await listDeliveries(faces.store.db, { monitor: id });
      return [id, String(delivery?.seq)];
    },
    ask: (_id, seq) => ({
      command: ['deliveries', 'send', seq],
      api: ['POST', `/deliveries/${seq}/send`],
      page: [`/deliveries/${seq}/resend`, { seen: 'SEEN' }],
    }),
    result: 'due again',
  },
  {
    operation: 'key.create',
    what: 'for some uses',
    make: async () => NEW,
    ask: () => ({
      command: ['keys', 'create', ' Nordlys ', '--scope', 'news'],
      api: ['POST', '/keys', { name: ' Nordlys ', scopes: ['news'] }],
      page: ['/keys', { id: crypto.randomUUID(), name: ' Nordlys ', scope: 'news' }],
    }),
    result: 'created',
  },
  {
    operation: 'key.revoke',
    what: 'with its job',
    make: keyWithJob,
    ask: (id) => ({
      command: ['keys', 'revoke', id],
      api: ['DELETE', `/keys/${id}`],
      page: [`/keys/${id}/revoke`, {}],
    }),
    result: 'revoked; 1 jobs switched off',
    again: 'unchanged',
  },
  {
    operation: 'key.revoke',
    what: 'but not its job',
    make: keyWithJob,
    ask: (id) => ({
      command: ['keys', 'revoke', id, '--keep-jobs'],
      api: ['DELETE', `/keys/${id}?keepJobs=true`],
      page: [`/keys/${id}/revoke`, { keepJobs: 'yes' }],
    }),
    result: 'revoked; 1 jobs left on',
    again: 'unchanged',
  },
  ...REVIEW_CASES,
  ...RUN_CASES,
  ...OPERATOR_CASES,
  ...RECORD_CASES,
];
