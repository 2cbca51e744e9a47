/** `monitors`: who is notified of which changes. */

import { replayHeld } from '../service/delivery/deliveries.ts';
import { addItem, removeItem } from '../service/items/items.ts';
import { sameAddress } from '../service/mail/address.ts';
import { resumeMail } from '../service/mail/stopped-mails.ts';
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
import { itemCounts, rowOf, show as showMonitor, showNew, showSecret, warnWithoutMailServer } from './monitors/show.ts';
import { tryMonitor } from './monitors/try.ts';

const args = { id: needed('the id of the monitor, as `monitors list` shows it') };

const found = <T>(id: string, what: T | undefined): T => {
  if (what === undefined) throw new Error(`there is no monitor ${id}: see cvrsync monitors list`);
  return what;
};

const create = defineCommand({
  name: 'create',
  audit: 'monitor.create',
  about: 'create a monitor; prints the signing secret of its webhook, which cannot be shown again',
  args: { name: needed('the name of the monitor') },
  options: {
    all: flag('watch every company'),
    entity: texts('watch this company or person: CVR-1-12345678, a CVR number, or CVR-3-…; may be repeated', 'id'),
    inactive: flag('leave it off until `monitors activate`; changes before then are not stored for it'),
    ...settingOptions,
  },
  run: (context, { name }, { all, entity, inactive, ...settings }) =>
    withService(context, async ({ store, secrets, wire, hasMailServer }) => {
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
      warnWithoutMailServer(context, monitor, hasMailServer);
      showNew(context, monitor, wire, `The monitor ${monitor.name} watches ${watches}.`);
      return 0;
    }),
});

const list = defineCommand({
  name: 'list',
  about: 'list all monitors, including third-party jobs',
  run: (context) =>
    withService(context, async ({ store, secrets, wire }) => {
      const [monitors, counts] = [await listMonitors(store.db, secrets), await itemCounts(store.db)];
      context.output.table(
        monitors.map((monitor) => rowOf(monitor, counts, wire)),
        'There are no monitors: cvrsync monitors create NAME makes one.',
      );
      return 0;
    }),
});

const show = defineCommand({
  name: 'show',
  about: 'show one monitor in full, without its secrets',
  args,
  run: (context, { id }) =>
    withService(context, async (service) => {
      await showMonitor(context, service, found(id, await getMonitor(service.store.db, service.secrets, id)));
      return 0;
    }),
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
  audit: 'monitor.update',
  about: 'change the given settings of a monitor, and leave the others',
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
    withService(context, async ({ store, secrets, wire, hasMailServer }) => {
      const patch: MonitorPatch = {
        ...(clear !== undefined && CLEARED[clear]),
        ...(name !== undefined && { name }),
        ...(target !== undefined && { target }),
        ...readSettings(settings),
      };
      if (Object.keys(patch).length === 0) throw new UsageError('name at least one setting to change: see --help');
      const changed = await store.write(async (tx) => {
        const monitor = await updateMonitor(tx, id, patch, { secrets, now: Date.now(), options: wire });
        if (monitor !== undefined && (patch.url !== undefined || patch.emails !== undefined)) requireListener(monitor);
        return monitor;
      });
      warnWithoutMailServer(context, found(id, changed), hasMailServer);
      await showMonitor(context, { store, wire }, found(id, changed));
      return 0;
    }),
});

const activate = defineCommand({
  name: 'activate',
  audit: 'monitor.activate',
  about: 'switch a monitor on; held deliveries wait for `deliveries replay`, or go with --replay',
  args,
  options: { replay: flag('send what is held, before any later change') },
  run: (context, { id }, { replay }) =>
    withService(context, async ({ store }) => {
      const replayed = await store.write(async (tx) => {
        if (!(await switchOn(tx, id, Date.now()))) return undefined;
        return replay ? replayHeld(tx, id, Date.now()) : 0;
      });
      found(id, replayed);
      context.output.result(
        { id, enabled: true, replayed },
        replay
          ? `The monitor ${id} is on. ${replayed} held deliveries are sent.`
          : `The monitor ${id} is on. See cvrsync deliveries list --state held.`,
      );
      return 0;
    }),
});

const disable = defineCommand({
  name: 'disable',
  audit: 'monitor.disable',
  about: 'switch a monitor off; its deliveries are held for 14 days',
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
  audit: 'monitor.remove',
  about: 'remove a monitor with its list; pending deliveries are dropped',
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
  audit: 'monitor.rotate-secret',
  about: 'give a monitor a new signing secret, printed once; the old one stays valid for 24 hours',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store, secrets, wire }) => {
      const rotated = found(id, await store.write((tx) => rotateSecret(tx, secrets, id, Date.now())));
      showSecret(
        context,
        rotated,
        wire,
        `The monitor ${rotated.name} has a new secret. For 24 hours each post carries both signatures.`,
      );
      return 0;
    }),
});

const tryOut = defineCommand({
  name: 'test',
  audit: 'monitor.test',
  about: 'post an example payload to the webhook of a monitor, whether the monitor is on or off',
  args,
  options: { entity: text('send the state of this company (default: an invented company)', 'id') },
  run: (context, { id }, { entity: asked }) =>
    withService(context, async ({ store, secrets, wire }) => {
      const monitor = found(id, await getMonitor(store.db, secrets, id));
      const entity = asked === undefined ? undefined : readMonitoredEntity(asked, context.log);
      const result = await tryMonitor(context, { store, wire }, monitor, entity);
      const { failure, message, answer, took } = result;
      const verdict = failure === null ? message : `The webhook did not take it (${failure}): ${message}`;
      context.output.result(result, `${verdict} ${took} ms.${answer === '' ? '' : `\nIt answered: ${answer}`}`);
      return failure === null ? 0 : 1;
    }),
});

const listArgs = { ...args, entities: many('companies or persons: CVR-1-12345678, a CVR number, or CVR-3-…') };
const recordOption = { record: text('the id of the record in the external system; only for jobs', 'id') };

const change = (name: 'add' | 'remove', about: string) =>
  defineCommand({
    name,
    audit: `monitor.${name}-entities`,
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
  about: 'manage the list of a monitor: add, remove',
  commands: [
    change('add', 'add companies or persons to the list; one that is already listed is not an error'),
    change('remove', 'take companies or persons off the list; one that is not listed is not an error'),
  ],
});

const resubscribe = defineCommand({
  name: 'resubscribe',
  audit: 'monitor.resubscribe',
  about: 'resume mail to an address that unsubscribed or bounced, from the next change on',
  args: { ...args, recipient: needed('the address, as `monitors show` lists it') },
  run: (context, { id, recipient }) =>
    withService(context, async ({ store, secrets }) => {
      const { emails } = found(id, await getMonitor(store.db, secrets, id));
      if (!(await store.write((tx) => resumeMail(tx, id, recipient, Date.now()))))
        throw new Error(`${recipient} has neither unsubscribed nor bounced: see cvrsync monitors show ${id}`);
      const isListed = emails.some((each) => sameAddress(each) === sameAddress(recipient));
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
  about: 'manage monitors: who is notified of which changes',
  commands: [create, list, show, update, activate, disable, remove, rotate, tryOut, entities, resubscribe],
});
