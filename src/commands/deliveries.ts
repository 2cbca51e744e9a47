/** `deliveries`: lists what was sent to webhooks, and replays or drops it. */
import type { TObject } from 'typebox';
import {
  dropDeliveries,
  recoverDeliveries,
  replayDeliveries,
  type SentDelivery,
  sendDelivery,
} from '../operations/deliveries.ts';
import type { Operation } from '../operations/operation.ts';
import { wireNameOf } from '../protocol/payload.ts';
import {
  countDeliveries,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryFilter,
  type DeliveryState,
  DROPPED,
  listDeliveries,
  REPLAY_LIMIT,
  REPLAYED,
} from '../service/delivery/deliveries.ts';
import type { Db, Store } from '../store/store.ts';
import { readEntity } from './arguments/entity.ts';
import { time } from './arguments/time.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, integer, many, oneOf, text, UsageError } from './cli/command.ts';
import { commandLine } from './cli/command-line.ts';
import type { CommandContext } from './cli/context.ts';
import { timeCell } from './cli/when.ts';
import { performEachHere, performHere } from './operations/operation-command.ts';

const SHOWN = 100;

const filterOptions = {
  monitor: text('only deliveries of this monitor', 'id'),
  state: oneOf(DELIVERY_STATES, 'only deliveries in this state'),
  entity: text('only deliveries of this company or person: CVR-1-12345678, or a CVR number', 'id'),
  since: time('only deliveries created at or after this time'),
  until: time('only deliveries created before this time'),
};

interface Given {
  readonly monitor: string | undefined;
  readonly state: DeliveryState | undefined;
  readonly entity: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
}

const readFilter = ({ monitor, state, entity, since, until }: Given, log: CommandContext['log']): DeliveryFilter => ({
  ...(monitor !== undefined && { monitor }),
  ...(state !== undefined && { state }),
  ...(entity !== undefined && { entity: readEntity(entity, log) }),
  ...(since !== undefined && { since }),
  ...(until !== undefined && { until }),
});

const list = defineCommand({
  name: 'list',
  examples: ['deliveries list --state failing', 'deliveries list --entity CVR-1-10000001 --since 2d'],
  about: 'list deliveries, newest first',
  options: { ...filterOptions, limit: integer(`show at most so many (default ${SHOWN})`) },
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

/** A change of deliveries: replay or drop. */
interface DeliveryAction {
  readonly verb: 'replayed' | 'dropped';
  /** The states it takes if none is named. */
  readonly states: readonly DeliveryState[];
  readonly operation: Operation<TObject, { readonly count: number }>;
}

const REPLAY: DeliveryAction = { verb: 'replayed', states: REPLAYED, operation: replayDeliveries };
const RECOVER: DeliveryAction = { ...REPLAY, operation: recoverDeliveries };
const DROP: DeliveryAction = { verb: 'dropped', states: DROPPED, operation: dropDeliveries };

const PREVIEWED = 'shows how many, and needs --yes';

const decide = (name: string, action: DeliveryAction) =>
  defineCommand({
    name,
    examples: [`deliveries ${name} --state failed --since 7d`, `deliveries ${name} --state failed --since 7d --yes`],
    operation: action.operation.name,
    about: `${action.operation.about}; ${PREVIEWED}`,
    options: { ...filterOptions, ...confirmOptions },
    run: (context, _args, { limit, yes, ...given }) =>
      withStore(context, (store) =>
        carryOut(context, store, action, { name, filter: readFilter(given, context.log), limit, yes }),
      ),
  });

const confirmOptions = {
  limit: integer('take at most so many, oldest first'),
  yes: flag('do it; without this option only count, and end with exit code 3'),
};

const recover = defineCommand({
  name: 'recover',
  examples: ['deliveries recover --since 7d', 'deliveries recover --since 7d --yes'],
  operation: recoverDeliveries.name,
  about: `${recoverDeliveries.about}; ${PREVIEWED}`,
  options: { since: filterOptions.since, monitor: filterOptions.monitor, ...confirmOptions },
  run: (context, _args, { since, monitor, limit, yes }) => {
    if (since === undefined) throw new UsageError('say since when: --since 2h, or --since 2026-03-01T12:00:00Z');
    const filter = { since, ...(monitor !== undefined && { monitor }) };
    return withStore(context, (store) => carryOut(context, store, RECOVER, { name: 'recover', filter, limit, yes }));
  },
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

/** The filter as options of a command line: ages are times now. */
const textsOf = ({ since, until, ...others }: DeliveryFilter) => ({
  ...others,
  since: since === undefined ? undefined : new Date(since).toISOString(),
  until: until === undefined ? undefined : new Date(until).toISOString(),
});

async function carryOut(
  context: CommandContext,
  store: Store,
  action: DeliveryAction,
  {
    name,
    filter,
    limit,
    yes,
  }: {
    readonly name: string;
    readonly filter: DeliveryFilter;
    readonly limit: number | undefined;
    readonly yes: boolean;
  },
): Promise<ExitCode> {
  const matching = Math.min(await matchCount(store.db, action, filter), limit ?? Number.POSITIVE_INFINITY);
  const { output } = context;
  if (!yes) {
    const next = commandLine(context, `deliveries ${name}`, { ...textsOf(filter), limit, yes: true });
    const text = `${matching} deliveries would be ${action.verb}. To do it: ${next}`;
    output.result({ matching, done: 0 }, matching === 0 ? 'There are no such deliveries.' : text);
    return matching === 0 ? 0 : 3;
  }
  if (filter.state === 'done' && matching > REPLAY_LIMIT)
    throw new UsageError(`${matching} deliveries are more than ${REPLAY_LIMIT}: narrow them with --since and --until`);
  output.line(`${matching} deliveries match.`);
  const given = Object.fromEntries(Object.entries(textsOf(filter)).filter(([, value]) => value !== undefined));
  let done = 0;
  while (done < matching) {
    const step = { ...given, limit: Math.min(REPLAY_LIMIT, matching - done) };
    const { count } = await performHere(action.operation, step, { store, now: Date.now });
    done += count;
    if (count < step.limit) break;
  }
  const left = matching - done;
  const rest = left > 0 ? ` ${left} stay as they are: their monitors are off, or have no webhook.` : '';
  output.result({ matching, done }, `${done} deliveries are ${action.verb}.${rest}`);
  return 0;
}

async function matchCount(db: Db, { states }: DeliveryAction, filter: DeliveryFilter): Promise<number> {
  if (filter.state !== undefined) return countDeliveries(db, filter);
  let sum = 0;
  for (const state of states) sum += await countDeliveries(db, { ...filter, state });
  return sum;
}

export const command = defineCommand({
  name: 'deliveries',
  about: 'manage deliveries to webhooks: list, send, recover, replay, drop',
  commands: [list, send, recover, decide('replay', REPLAY), decide('drop', DROP)],
});
