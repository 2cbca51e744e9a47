/** `monitors`: who is told of which changes. */

import { readEnded, resumeMail } from '../service/mail/ended.ts';
import { addItem, removeItem } from '../service/monitors/items.ts';
import type { Monitor } from '../service/monitors/monitor.ts';
import { type MonitorPatch, requireListener } from '../service/monitors/monitor-input.ts';
import {
  createMonitor,
  getMonitor,
  listMonitors,
  removeMonitor,
  rotateSecret,
  disable as switchOff,
  activate as switchOn,
  updateMonitor,
} from '../service/monitors/monitors.ts';
import { readMonitoredEntity, withService } from './arguments/with-service.ts';
import { defineCommand, flag, many, needed, oneOf, text, texts, UsageError } from './cli/command.ts';
import { readSettings, settingOptions } from './monitors/settings.ts';
import { itemCounts, rowOf, show as showMonitor, showNew, showSecret } from './monitors/show.ts';
import { tryMonitor } from './monitors/try.ts';

const args = { id: needed('the id of the monitor, as `monitors list` shows it') };

const found = <T>(id: string, what: T | undefined): T => {
  if (what === undefined) throw new Error(`there is no monitor ${id}: see cvrsync monitors list`);
  return what;
};

const create = defineCommand({
  name: 'create',
  about: 'make a monitor; the signing secret of its webhook is printed this once',
  args: { name: needed('what it is called') },
  options: {
    all: flag('it watches every company'),
    entity: texts('a company or person it watches: CVR-1-12345678, a CVR number, or CVR-3-…', 'id'),
    inactive: flag('leave it off until `monitors activate`: nothing is kept for it before'),
    ...settingOptions,
  },
  run: (context, { name }, { all, entity, inactive, ...settings }) =>
    withService(context, async ({ store, secrets, wire }) => {
      if (all && entity.length > 0) throw new UsageError('choose --all or --entity, not both');
      const entities = entity.map((each) => readMonitoredEntity(each, context.log));
      const target: Monitor['target'] = all ? 'all' : 'items';
      const input = { ...readSettings(settings), name, target, enabled: !inactive };
      const now = Date.now();
      const monitor = await store.write(async (tx) => {
        const made = await createMonitor(tx, input, { secrets, now, options: wire });
        requireListener(made);
        for (const each of entities)
          await addItem(tx, { monitor: made.id, entity: each, recordId: '', sendUpdate: false, now });
        return made;
      });
      const watches = all ? 'every company' : entities.length === 1 ? '1 entity' : `${entities.length} entities`;
      showNew(context, monitor, `The monitor ${monitor.name} watches ${watches}.`);
      return 0;
    }),
});

const list = defineCommand({
  name: 'list',
  about: 'all monitors, third-party jobs too',
  run: (context) =>
    withService(context, async ({ store, secrets }) => {
      const [monitors, counts] = [await listMonitors(store.db, secrets), await itemCounts(store.db)];
      context.output.table(
        monitors.map((monitor) => rowOf(monitor, counts)),
        'There are no monitors: cvrsync monitors create NAME makes one.',
      );
      return 0;
    }),
});

const show = defineCommand({
  name: 'show',
  about: 'one monitor in full, without its secrets',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store, secrets }) => {
      const monitor = found(id, await getMonitor(store.db, secrets, id));
      showMonitor(context, monitor, (await itemCounts(store.db)).get(id) ?? 0, await readEnded(store.db, id));
      return 0;
    }),
});

const CLEARED = {
  url: { url: null },
  events: { events: null },
  emails: { emails: [] },
  schedule: { schedule: null },
  credentials: { credentials: { method: 'None' } },
} as const satisfies Readonly<Record<string, MonitorPatch>>;

const update = defineCommand({
  name: 'update',
  about: 'change what is given of a monitor, and leave the rest',
  args,
  options: {
    name: text('what it is called'),
    target: oneOf(['all', 'items'], 'what it watches'),
    clear: oneOf(['url', 'events', 'emails', 'schedule', 'credentials'], 'back to what a new one has'),
    ...settingOptions,
  },
  run: (context, { id }, { name, target, clear, ...settings }) =>
    withService(context, async ({ store, secrets, wire }) => {
      const patch: MonitorPatch = {
        ...(clear !== undefined && CLEARED[clear]),
        ...(name !== undefined && { name }),
        ...(target !== undefined && { target }),
        ...readSettings(settings),
      };
      if (Object.keys(patch).length === 0) throw new UsageError('say what to change: see --help');
      const changed = await store.write(async (tx) => {
        const monitor = await updateMonitor(tx, id, patch, { secrets, now: Date.now(), options: wire });
        if (monitor !== undefined && (patch.url !== undefined || patch.emails !== undefined)) requireListener(monitor);
        return monitor;
      });
      showMonitor(
        context,
        found(id, changed),
        (await itemCounts(store.db)).get(id) ?? 0,
        await readEnded(store.db, id),
      );
      return 0;
    }),
});

const activate = defineCommand({
  name: 'activate',
  about: 'switch a monitor on; what was held for it waits for `deliveries replay`',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store }) => {
      found(id, (await store.write((tx) => switchOn(tx, id, Date.now()))) || undefined);
      context.output.result(
        { id, enabled: true },
        `The monitor ${id} is on. See cvrsync deliveries list --state held.`,
      );
      return 0;
    }),
});

const disable = defineCommand({
  name: 'disable',
  about: 'switch a monitor off; what happens meanwhile is held for 14 days',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store, secrets }) => {
      found(id, await getMonitor(store.db, secrets, id));
      await store.write((tx) => switchOff(tx, id, 'person', Date.now()));
      context.output.result({ id, enabled: false }, `The monitor ${id} is off.`);
      return 0;
    }),
});

const remove = defineCommand({
  name: 'remove',
  about: 'remove a monitor with its list; what was not delivered yet is dropped',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store }) => {
      found(id, (await store.write((tx) => removeMonitor(tx, id, Date.now()))) || undefined);
      context.output.result({ id, removed: true }, `The monitor ${id} is removed.`);
      return 0;
    }),
});

const rotate = defineCommand({
  name: 'rotate-secret',
  about: 'give a monitor a new signing secret, printed this once; the old one signs for 24 h more',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store, secrets }) => {
      const rotated = found(id, await store.write((tx) => rotateSecret(tx, secrets, id, Date.now())));
      showSecret(context, rotated, `The monitor ${rotated.name} has a new secret; posts carry both for 24 hours.`);
      return 0;
    }),
});

const tryOut = defineCommand({
  name: 'test',
  about: 'post an example payload to the webhook of a monitor, on or off, as it is set up',
  args,
  options: { entity: text('the company whose state is sent; an invented one where it is left out', 'id') },
  run: (context, { id }, { entity: asked }) =>
    withService(context, async ({ store, secrets, wire }) => {
      const monitor = found(id, await getMonitor(store.db, secrets, id));
      const entity = asked === undefined ? undefined : readMonitoredEntity(asked, context.log);
      const result = await tryMonitor(context, { store, wire }, monitor, entity);
      const { failure, message, answer, took } = result;
      const said = failure === null ? message : `The webhook did not take it (${failure}): ${message}`;
      context.output.result(result, `${said} ${took} ms.${answer === '' ? '' : `\nIt answered: ${answer}`}`);
      return failure === null ? 0 : 1;
    }),
});

const listArgs = { ...args, entities: many('companies or persons: CVR-1-12345678, a CVR number, or CVR-3-…') };
const recordOption = { record: text('the id in the external system; for jobs', 'id') };

const change = (name: 'add' | 'remove', about: string) =>
  defineCommand({
    name,
    about,
    args: listArgs,
    options: recordOption,
    run: (context, { id, entities }, { record: recordId = '' }) =>
      withService(context, async ({ store }) => {
        if (entities.length === 0) throw new UsageError('name at least one company or person');
        const read = entities.map((each) => readMonitoredEntity(each, context.log));
        const changed = await store.write(async (tx) => {
          const results: { entity: string; result: string }[] = [];
          for (const entity of read) {
            const item = { monitor: id, entity, recordId, now: Date.now() };
            const { kind } = await (name === 'add'
              ? addItem(tx, { ...item, sendUpdate: false })
              : removeItem(tx, item));
            found(id, kind === 'no-monitor' ? undefined : kind);
            results.push({ entity, result: kind });
          }
          return results;
        });
        context.output.table(changed);
        return 0;
      }),
  });

const entities = defineCommand({
  name: 'entities',
  about: 'the list of a monitor: add, remove',
  commands: [
    change('add', 'list companies or persons; one that is listed stays so'),
    change('remove', 'take companies or persons off the list; one that is not listed is no error'),
  ],
});

const resubscribe = defineCommand({
  name: 'resubscribe',
  about: 'send mail again to an address that unsubscribed or bounced, from the next change on',
  args: { ...args, recipient: needed('the address, as `monitors show` names it') },
  run: (context, { id, recipient }) =>
    withService(context, async ({ store, secrets }) => {
      const { emails } = found(id, await getMonitor(store.db, secrets, id));
      if (!(await store.write((tx) => resumeMail(tx, id, recipient))))
        throw new Error(`${recipient} neither unsubscribed nor bounced: see cvrsync monitors show ${id}`);
      const isListed = emails.some((each) => each.toLowerCase() === recipient.toLowerCase());
      const missing = isListed ? '' : ` It is not among its recipients: cvrsync monitors update ${id} --email adds it.`;
      context.output.result(
        { id, recipient, isListed },
        `Mail to ${recipient} goes on with the next change.${missing}`,
      );
      return 0;
    }),
});

export const command = defineCommand({
  name: 'monitors',
  about: 'who is told of which changes',
  commands: [create, list, show, update, activate, disable, remove, rotate, tryOut, entities, resubscribe],
});
