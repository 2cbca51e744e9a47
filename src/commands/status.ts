/** `status`: the state of the installation on one screen. */
import type { Config } from '../config/load.ts';
import { returnAdvice } from '../connector/links/left.ts';
import type { ConnectionRow } from '../operations/installation/status/connections.ts';
import { MOST_COUNTED, waitingOf, workOf } from '../operations/installation/status/read-status.ts';
import {
  installedOf,
  type RegisterState,
  readStatus,
  type Status,
  type StatusNeeds,
} from '../operations/installation/status/status.ts';
import { readVersion } from '../version.ts';
import { shownStore, withStore } from './arguments/with-store.ts';
import { defineCommand } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { type Toned, toned } from './cli/style.ts';
import { ago, lasting } from './cli/when.ts';
import { performHere } from './operations/operation-command.ts';

export const command = defineCommand({
  name: 'status',
  examples: ['status', 'status --json'],
  about: readStatus.about,
  operation: readStatus.name,
  run: async (context) => {
    const config = await context.config([]);
    return withStore(context, async (store) => {
      const register = await registerOf(config, store);
      const deps = { store, now: Date.now, installed: () => installedOf(config), register };
      const status = await performHere(readStatus, {}, deps);
      if (context.json) context.output.result(readStatus.view?.(status, deps));
      else show(context, status, shownStore(config.store));
      return status.things > 0 ? 3 : 0;
    });
  },
});

/** The register's sources, without calls to them. */
async function registerOf({ service }: Config, store: StatusNeeds['store']): Promise<StatusNeeds['register']> {
  if (service === undefined) return undefined;
  const { openRegister } = await import('../service/sources.ts');
  const http = () => Promise.reject(new Error('the status calls nobody'));
  return openRegister(service, { store, http, now: Date.now });
}

type Part = string | Toned;
type Line = readonly Part[];

function show({ output }: CommandContext, status: Status, store: string): void {
  const lines: readonly Line[] = [
    ['cvrsync ', readVersion(), ', ', store],
    headline(status),
    ...troubles(status),
    ...section(
      'Daemons',
      status.daemons.map(({ name, roles, startedAt }) => [
        name,
        roles.join(', '),
        `started ${ago(startedAt, status.at)}`,
      ]),
    ),
    ...section(
      'Connections',
      status.connections.map((row) => connection(row, status.at)),
    ),
    ...register(status),
    ...section(
      'Queues',
      workOf(status).map(({ queue, ready, leased, waiting, parked, oldestSince }) => [
        queue,
        `${ready + leased} due`,
        `${waiting} later`,
        parked > 0 ? toned('bad', `${parked} failed`) : '0 failed',
        oldestSince === undefined || oldestSince > status.at ? '' : `oldest ${lasting(status.at - oldestSince)}`,
      ]),
    ),
    ...lastDay(status),
  ];
  for (const line of lines) output.line(...line);
}

const FIRST = {
  link: 'Nothing is linked yet: run `cvrsync backfill PROVIDER --dry-run`.',
  read: 'Nothing of the register is read yet: run `cvrsync serve`.',
} as const;

function headline({ things, differences, first }: Status): Line {
  if (things > 0)
    return [
      toned(
        'bad',
        things > MOST_COUNTED
          ? `More than ${MOST_COUNTED} things need you.`
          : `${things} ${things === 1 ? 'thing needs' : 'things need'} you.`,
      ),
    ];
  if (first !== undefined) return [toned('warn', FIRST[first])];
  if (differences === 0) return [toned('good', 'All is well.')];
  return [
    toned('good', 'All is well.'),
    ` ${upTo(differences)} ${differences === 1 ? 'property differs' : 'properties differ'} from the register: cvrsync review list --kind difference`,
  ];
}

const upTo = (count: number): string => (count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count));

function troubles(status: Status): readonly Line[] {
  const { conditions, connections, daemons, first, at } = status;
  const silent = connections.flatMap(({ name, state }) =>
    state.kind === 'silent' ? [`${name} does not answer, for ${lasting(at - state.since)}: ${state.failure}`] : [],
  );
  return [
    ...(daemons.length === 0 ? [['  No daemon runs on this store. Start one with `cvrsync serve`.']] : []),
    ...conditions.flatMap(({ what, advice, since }): Line[] => [
      [`  ${what}${since === undefined ? '' : `, for ${lasting(at - since)}`}.`],
      [toned('quiet', `    ${advice}`)],
    ]),
    ...silent.map((line) => [`  ${line}`]),
    ...waitingOf(status).map(({ kind, count }) => [`  ${upTo(count)} in review: cvrsync review list --kind ${kind}`]),
    ...(first === undefined || status.things === 0 ? [] : [[`  ${FIRST[first]}`]]),
  ];
}

function connectionState(state: ConnectionRow['state'], at: number): Toned {
  switch (state.kind) {
    case 'ok':
      return toned('good', 'ok');
    case 'left':
      return toned('quiet', `left ${ago(state.at, at)} by ${state.by}`);
    case 'silent':
      return toned('bad', 'silent');
    case 'paused':
      return toned('warn', `paused, ends ${ago(state.until, at)}`);
  }
}

function connection({ name, state, decidedAt, writtenAt }: ConnectionRow, at: number): Line {
  const last = (what: string, when: number | undefined): string =>
    when === undefined ? `no ${what} lately` : `last ${what} ${ago(when, at)}`;
  const shown = connectionState(state, at);
  const reason = state.kind === 'paused' ? (state.reason ?? '') : state.kind === 'left' ? returnAdvice(name) : '';
  return [name, shown, last('decision', decidedAt), last('write', writtenAt), reason];
}

function register({ register: found, sources, at }: Status): readonly Line[] {
  if (found === undefined) return [];
  const isOne = new Set(found.parts.map(({ source }) => source)).size < 2;
  const rows = found.parts.map((part) =>
    registerPart(isOne ? part : { ...part, name: `${part.source}: ${part.name}` }, at),
  );
  const others = sources.flatMap(({ name, error, since }): Line[] =>
    error === null ? [] : [[name, toned('bad', 'fails'), `for ${lasting(at - since)}`, error]],
  );
  const none = rows.length === 0 ? [['not read yet', found.from]] : [];
  return section(`Register: ${found.stored} companies and production units stored`, [...rows, ...none, ...others]);
}

function registerPart({ name, state, readAt, loadedUntil }: RegisterState['parts'][number], at: number): Line {
  const tone = state === 'up to date' ? 'good' : state === 'behind' ? 'bad' : 'warn';
  const read = readAt === undefined ? '' : `read ${ago(readAt, at)}`;
  const until =
    loadedUntil === undefined || state !== 'loading'
      ? ''
      : `first load until ${new Date(loadedUntil).toISOString().slice(0, 10)}`;
  return [name, toned(tone, state), read, until];
}

function lastDay({ day, failing, connections, register: source }: Status): readonly Line[] {
  const { received = 0, written = 0, kept = 0, sent = 0 } = day;
  const rows = [
    ...(connections.length === 0 ? [] : [`${received} events`, `${written} values written`, `${kept} edits kept`]),
    ...(source === undefined
      ? []
      : [`${sent} deliveries`, `${failing > MOST_COUNTED ? `over ${MOST_COUNTED}` : failing} failing`]),
  ];
  return section('Last 24 hours', [[rows.join(' · ')]]);
}

const textOf = (part: Part): string => (typeof part === 'string' ? part : part.text);

/** A heading, and rows whose parts are aligned. */
function section(title: string, rows: readonly Line[]): readonly Line[] {
  if (rows.length === 0) return [];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => textOf(row[column] ?? '').length)));
  const aligned = rows.map((row) => {
    const last = row.findLastIndex((part) => textOf(part) !== '');
    return row.slice(0, last + 1).flatMap((part, index): Part[] => {
      const pad = index === last ? '' : ' '.repeat((widths[index] ?? 0) - textOf(part).length + 2);
      return [part, pad];
    });
  });
  return [[''], [toned('strong', title)], ...aligned.map((row) => ['  ', ...row])];
}
