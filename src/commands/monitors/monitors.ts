/** `monitors`: manages who is notified of which changes. */
import type { TObject } from 'typebox';
import type { Operation } from '../../operations/definition/operation.ts';
import { addItem, type ListedItem, removeItem } from '../../operations/service/items.ts';
import {
  activateMonitor,
  createMonitor,
  disableMonitor,
  getMonitor,
  removeMonitor,
  resumeMonitorMail,
  rotateSecret,
  updateMonitor,
} from '../../operations/service/monitors.ts';
import { sameAddress } from '../../service/mail/address.ts';
import type { MonitorPatch } from '../../service/monitors/monitor-input.ts';
import { listMonitors } from '../../service/monitors/monitors.ts';
import { readMonitoredEntity, withService } from '../arguments/with-service.ts';
import { defineCommand, flag, many, needed, oneOf, text, texts, UsageError } from '../cli/command.ts';
import { operationCommand, performEachHere, performHere } from '../operations/operation-command.ts';
import { readSettings, settingOptions } from './monitor-options.ts';
import { itemCounts, rowOf, show as showMonitor, showNew, showSecret, warnWithoutMailServer } from './show.ts';
import { tryOut } from './try.ts';

const args = { id: needed('the id of the monitor, as `monitors list` shows it') };
const ONE = { args: ['id'], hint: 'see cvrsync monitors list', open: withService } as const;

const create = defineCommand({
  name: 'create',
  examples: [
    'monitors create Sales --all --url https://example.com/cvr',
    'monitors create Board --entity 10000001 --email me@firma.dk',
  ],
  operation: createMonitor.name,
  about: `${createMonitor.about}; prints the signing secret of its webhook, which cannot be shown again`,
  args: { name: needed('the name of the monitor') },
  options: {
    all: flag('watch every company'),
    entity: texts('watch this company or person: CVR-1-12345678, a CVR number, or CVR-3-…; may be repeated', 'id'),
    inactive: flag('leave it off until `monitors activate`; changes before then are not stored for it'),
    ...settingOptions,
  },
  run: (context, { name }, { all, entity, inactive, ...settings }) =>
    withService(context, async (service) => {
      if (all && entity.length > 0) throw new UsageError('choose --all or --entity, not both');
      const entities = entity.map((each) => readMonitoredEntity(each, context.log));
      const target = all ? 'all' : 'items';
      const input = { ...readSettings(settings), name, target, entities, enabled: !inactive } as const;
      const monitor = await performHere(createMonitor, input, service);
      const watches = all ? 'every company' : entities.length === 1 ? '1 entity' : `${entities.length} entities`;
      warnWithoutMailServer(context, monitor, service.hasMailServer);
      showNew(context, monitor, service.options, `The monitor ${monitor.name} watches ${watches}.`);
      return 0;
    }),
});

const list = defineCommand({
  name: 'list',
  examples: ['monitors list'],
  about: 'list all monitors, including third-party jobs',
  run: (context) =>
    withService(context, async ({ store, secrets, options }) => {
      const [monitors, counts] = [await listMonitors(store.db, secrets), await itemCounts(store.db)];
      context.output.table(
        monitors.map((monitor) => rowOf(monitor, counts, options)),
        'There are no monitors: cvrsync monitors create NAME makes one.',
      );
      return 0;
    }),
});

const show = operationCommand(getMonitor, {
  ...ONE,
  name: 'show',
  examples: ['monitors show MONITOR_ID'],
  async show(context, monitor, service) {
    await showMonitor(context, service, monitor);
  },
});

const CLEARED = {
  url: { url: null },
  events: { events: null },
  emails: { emails: [] },
  schedule: { schedule: null },
  'posts-per-minute': { postsPerMinute: null },
  credentials: { credentials: { method: 'None' } },
} as const satisfies Readonly<Record<string, MonitorPatch>>;

const update = defineCommand({
  name: 'update',
  examples: ['monitors update MONITOR_ID --posts-per-minute 60'],
  operation: updateMonitor.name,
  about: updateMonitor.about,
  args,
  options: {
    name: text('the name of the monitor'),
    target: oneOf(['all', 'items'], 'watch every company, or the listed ones'),
    clear: oneOf(
      ['url', 'events', 'emails', 'schedule', 'posts-per-minute', 'credentials'],
      'reset this setting to its default',
    ),
    ...settingOptions,
  },
  run: (context, { id }, { name, target, clear, ...settings }) =>
    withService(context, async (service) => {
      const patch: MonitorPatch = {
        ...(clear !== undefined && CLEARED[clear]),
        ...(name !== undefined && { name }),
        ...(target !== undefined && { target }),
        ...readSettings(settings),
      };
      if (Object.keys(patch).length === 0) throw new UsageError('name at least one setting to change: see --help');
      const monitor = await performHere(updateMonitor, { ...patch, id }, service, ONE.hint);
      warnWithoutMailServer(context, monitor, service.hasMailServer);
      await showMonitor(context, service, monitor);
      return 0;
    }),
});

const activate = operationCommand(activateMonitor, {
  ...ONE,
  name: 'activate',
  examples: ['monitors activate MONITOR_ID --replay'],
  show({ output }, done) {
    const { id, replayed } = done;
    output.result(
      done,
      replayed > 0
        ? `The monitor ${id} is on. ${replayed} held deliveries are sent.`
        : `The monitor ${id} is on. See cvrsync deliveries list --state held.`,
    );
  },
});

const disable = operationCommand(disableMonitor, {
  ...ONE,
  name: 'disable',
  examples: ['monitors disable MONITOR_ID'],
  show({ output }, done) {
    output.result(done, `The monitor ${done.id} is off.`);
  },
});

const remove = operationCommand(removeMonitor, {
  ...ONE,
  name: 'remove',
  examples: ['monitors remove MONITOR_ID'],
  show({ output }, { id }) {
    output.result({ id, removed: true }, `The monitor ${id} is removed.`);
  },
});

const rotate = operationCommand(rotateSecret, {
  ...ONE,
  name: 'rotate-secret',
  examples: ['monitors rotate-secret MONITOR_ID'],
  note: 'prints the new one, once',
  show(context, rotated, { options }) {
    const done = `The monitor ${rotated.name} has a new secret. For 24 hours each post carries both signatures.`;
    showSecret(context, rotated, options, done);
  },
});

const listArgs = { ...args, entities: many('companies or persons: CVR-1-12345678, a CVR number, or CVR-3-…') };
const recordOption = { record: text('the id of the record in the external system; only for jobs', 'id') };

const change = (name: 'add' | 'remove', operation: Operation<TObject, ListedItem>) =>
  defineCommand({
    name,
    examples: [`monitors entities ${name} MONITOR_ID 10000001 CVR-3-4000000009`],
    operation: operation.name,
    about: operation.about,
    args: listArgs,
    options: recordOption,
    run: (context, { id, entities }, { record: recordId }) =>
      withService(context, async (service) => {
        if (entities.length === 0) throw new UsageError('name at least one company or person');
        const inputs = entities.map((each) => {
          const entityId = readMonitoredEntity(each, context.log);
          return { id, entityId, ...(recordId !== undefined && { recordId }) };
        });
        const results = await performEachHere(operation, inputs, service, ONE.hint);
        context.output.table(results.map(({ entity, result }) => ({ entity, result })));
        return 0;
      }),
  });

const entities = defineCommand({
  name: 'entities',
  about: 'manage the list of a monitor: add, remove',
  commands: [change('add', addItem), change('remove', removeItem)],
});

const resubscribe = operationCommand(resumeMonitorMail, {
  ...ONE,
  name: 'resubscribe',
  examples: ['monitors resubscribe MONITOR_ID ida@example.com'],
  args: ['id', 'recipient'],
  show({ output }, { id, recipient, emails }) {
    const isListed = emails.some((each) => sameAddress(each) === sameAddress(recipient));
    const missing = isListed ? '' : ` It is not among its recipients: cvrsync monitors update ${id} --email adds it.`;
    output.result({ id, recipient, isListed }, `Mail to ${recipient} goes on with the next change.${missing}`);
  },
});

export const command = defineCommand({
  name: 'monitors',
  about: 'manage monitors: who is notified of which changes',
  commands: [create, list, show, update, activate, disable, remove, rotate, tryOut, entities, resubscribe],
});
