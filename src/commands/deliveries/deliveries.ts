/** `deliveries`: lists what was sent to webhooks, and replays or drops it. */
import { dropDeliveries, type SentDelivery, sendDelivery } from '../../operations/service/deliveries.ts';
import { wireNameOf } from '../../protocol/payload.ts';
import {
  countDeliveries,
  type Delivery,
  type DeliveryFilter,
  DROPPED,
  listDeliveries,
  REPLAY_LIMIT,
} from '../../service/delivery/deliveries.ts';
import type { Db, Store } from '../../store/store.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, many, positive, UsageError } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import type { CommandContext } from '../cli/context.ts';
import { timeCell } from '../cli/when.ts';
import { performEachHere, performHere } from '../operations/operation-command.ts';
import { confirmOptions, filterOptions, PREVIEWED, readFilter, textsOf } from './filter.ts';
import { recover, replay } from './replay.ts';

const SHOWN = 100;

const list = defineCommand({
  name: 'list',
  examples: ['deliveries list --state failing', 'deliveries list --entity CVR-1-10000001 --since 2d'],
  about: 'list deliveries, newest first',
  options: { ...filterOptions, limit: positive(`show at most so many (default ${SHOWN})`) },
  run: (context, _args, { limit = SHOWN, ...given }) =>
    withStore<ExitCode>(context, async (store) => {
      const filter = readFilter(given, context.log);
      const shown = await listDeliveries(store.db, { ...filter, limit });
      const { service = {} } = await context.config([]);
      const namesOf = ({ events }: Delivery) => events.map((event) => wireNameOf(event, service));
      context.output.table(
        shown.map((delivery) => ({
          id: delivery.seq,
          made: timeCell(delivery.createdAt),
          monitor: delivery.monitor,
          entity: delivery.entity,
          name: delivery.name,
          events: context.json ? namesOf(delivery).join(' ') : shortened(namesOf(delivery)),
          state: delivery.state,
          attempts: delivery.attempts,
          next: timeCell(delivery.nextAt),
          status: delivery.status,
          error: delivery.error,
        })),
        'There are no such deliveries.',
      );
      const all = shown.length < limit ? shown.length : await countDeliveries(store.db, filter);
      if (all > shown.length)
        context.log.warn({ all, limit }, 'there are more: raise --limit, or narrow the list with the other options');
      return 0;
    }),
});

/** Up to three event names; of more, two names and the number of the others. */
const shortened = (events: readonly string[]): string =>
  events.length > 3 ? `${events.slice(0, 2).join(' ')} and ${events.length - 2} more` : events.join(' ');

const drop = defineCommand({
  name: 'drop',
  examples: ['deliveries drop --state failed --since 7d', 'deliveries drop --state failed --since 7d --yes'],
  operation: dropDeliveries.name,
  about: `${dropDeliveries.about}; ${PREVIEWED}`,
  options: { ...filterOptions, ...confirmOptions },
  run: (context, _args, { limit, yes, ...given }) =>
    withStore(context, (store) => dropThem(context, store, { filter: readFilter(given, context.log), limit, yes })),
});

const send = defineCommand({
  name: 'send',
  examples: ['deliveries send 4711 4712'],
  operation: sendDelivery.name,
  about: 'send the named deliveries now, whatever their state',
  args: { ids: many('ids as `deliveries list` shows them') },
  run: (context, { ids }) =>
    withStore<ExitCode>(context, async (store) => {
      if (ids.length === 0) throw new UsageError('name at least one id from `cvrsync deliveries list`');
      const wrong = ids.find((id) => !/^\d{1,15}$/u.test(id));
      if (wrong !== undefined) throw new UsageError(`${wrong} is not the id of a delivery`);
      const inputs = ids.map((id) => ({ seq: Number(id) }));
      const sent = await performEachHere(sendDelivery, inputs, { store, now: Date.now });
      context.output.table(sent.map(({ seq, result }) => ({ id: seq, result: SENT[result] })));
      return sent.every(({ result }) => result === 'sent') ? 0 : 1;
    }),
});

const SENT: Readonly<Record<SentDelivery['result'], string>> = {
  sent: 'due now',
  due: 'not done: it is due already',
  off: 'not done: its monitor is off, has no webhook, or was removed',
  unknown: 'there is no such delivery',
  changed: 'not done: it changed meanwhile',
};

interface Asked {
  readonly filter: DeliveryFilter;
  readonly limit: number | undefined;
  readonly yes: boolean;
}

async function dropThem(context: CommandContext, store: Store, { filter, limit, yes }: Asked): Promise<ExitCode> {
  const matching = Math.min(await countDroppable(store.db, filter), limit ?? Number.POSITIVE_INFINITY);
  const { output } = context;
  if (!yes) {
    const next = commandLine(context, 'deliveries drop', { ...textsOf(filter), limit, yes: true });
    const text = `${matching} deliveries would be dropped. To do it: ${next}`;
    output.result({ matching, done: 0 }, matching === 0 ? 'There are no such deliveries.' : text);
    return matching === 0 ? 0 : 3;
  }
  let done = 0;
  while (done < matching) {
    const step = { ...textsOf(filter), limit: Math.min(REPLAY_LIMIT, matching - done) };
    const { count } = await performHere(dropDeliveries, step, { store, now: Date.now });
    done += count;
    if (count < step.limit) break;
  }
  output.result({ matching, done }, `${done} deliveries are dropped.`);
  return 0;
}

async function countDroppable(db: Db, filter: DeliveryFilter): Promise<number> {
  if (filter.state !== undefined) return countDeliveries(db, filter);
  let sum = 0;
  for (const state of DROPPED) sum += await countDeliveries(db, { ...filter, state });
  return sum;
}

export const command = defineCommand({
  name: 'deliveries',
  about: 'manage deliveries to webhooks: list, send, recover, replay, drop',
  commands: [list, send, recover, replay, drop],
});
