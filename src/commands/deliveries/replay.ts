/** `deliveries replay` and `deliveries recover`: send deliveries again, as a run. */

import { confirmRun } from '../../operations/installation/runs.ts';
import { requestReplay } from '../../operations/service/deliveries.ts';
import { countItems } from '../../runtime/runs/run-items.ts';
import type { StoredRun } from '../../runtime/runs/runs.ts';
import type { DeliveryFilter } from '../../service/delivery/deliveries.ts';
import { replayWork } from '../../service/delivery/replay/replay-work.ts';
import type { Store } from '../../store/store.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, UsageError } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import type { CommandContext } from '../cli/context.ts';
import { performHere } from '../operations/operation-command.ts';
import { type CarryOut, runCarrier, withRunWorker } from '../progress/carry-out-run.ts';
import { confirmOptions, filterOptions, PREVIEWED, readFilter, textsOf } from './filter.ts';

export const replay = defineCommand({
  name: 'replay',
  examples: ['deliveries replay --state failed --since 7d', 'deliveries replay --state failed --since 7d --yes'],
  about: `send failing, held and failed deliveries again, or those of a state; ${PREVIEWED}`,
  options: { ...filterOptions, ...confirmOptions },
  run: (context, _args, { limit, yes, ...given }) =>
    withStore(context, (store) =>
      sendAgain(context, store, { name: 'replay', filter: readFilter(given, context.log), limit, yes }),
    ),
});

export const recover = defineCommand({
  name: 'recover',
  examples: ['deliveries recover --since 7d', 'deliveries recover --since 7d --yes'],
  about: `send all that did not arrive since a time: failing, held and failed deliveries; ${PREVIEWED}`,
  options: { since: filterOptions.since, monitor: filterOptions.monitor, ...confirmOptions },
  run: (context, _args, { since, monitor, limit, yes }) => {
    if (since === undefined) throw new UsageError('say since when: --since 2h, or --since 2026-03-01T12:00:00Z');
    const filter = { since, ...(monitor !== undefined && { monitor }) };
    return withStore(context, (store) => sendAgain(context, store, { name: 'recover', filter, limit, yes }));
  },
});

interface Asked {
  readonly name: string;
  readonly filter: DeliveryFilter;
  readonly limit: number | undefined;
  readonly yes: boolean;
}

async function sendAgain(
  context: CommandContext,
  store: Store,
  { name, filter, limit, yes }: Asked,
): Promise<ExitCode> {
  const { output } = context;
  const ground = { store, now: Date.now };
  const { id } = await performHere(requestReplay, { ...textsOf(filter), limit }, ground);
  const carryOut = replayer(context, store);
  const previewed = await carryOut(id);
  if (previewed.state !== 'done') return unfinished(context, previewed);
  const matching = (await countItems(store.db, id)).get('planned') ?? 0;
  if (matching === 0 || !yes) {
    const next = commandLine(context, `deliveries ${name}`, { ...textsOf(filter), limit, yes: true });
    const text = `${matching} deliveries would be replayed, as run ${id} shows. To do it: ${next}`;
    output.result({ run: id, matching, done: 0 }, matching === 0 ? NOTHING : text);
    return matching === 0 ? 0 : 3;
  }
  output.line(`${matching} deliveries match.`);
  await performHere(confirmRun, { run: id }, ground);
  const run = await carryOut(id);
  if (run.state !== 'done') return unfinished(context, run);
  const done = (await countItems(store.db, id)).get('due') ?? 0;
  const rest = done < matching ? ` ${matching - done} changed meanwhile, and stay as they are.` : '';
  output.result({ run: id, matching, done }, `${done} deliveries are replayed.${rest}`);
  return 0;
}

const NOTHING = 'There are no such deliveries. Those of monitors that are off, or have no webhook, are left out.';

function unfinished({ output }: CommandContext, { id, state, error, done }: StoredRun<unknown>): ExitCode {
  const why = error === null ? state : `${state}: ${error}`;
  output.result(
    { run: id, state, error },
    `Run ${id} is ${why}, after ${done} deliveries. See cvrsync runs show ${id}.`,
  );
  return 1;
}

const replayer = (context: CommandContext, store: Store): CarryOut =>
  runCarrier(context, store, {
    works: ({ roles, digests }) => roles.includes('service') && digests['service'] !== undefined,
    // A daemon delivers what is due.
    withWorkers: (id, during) =>
      withRunWorker(context, store, { id, work: replayWork({ store, now: Date.now, ring: () => undefined }) }, during),
    about: 'replaying',
  });
