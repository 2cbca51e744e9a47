/** The state of the installation on one screen. */
import Type from 'typebox';
import type { Config } from '../../../config/load.ts';
import { limitsOf } from '../../../connector/crm/connect.ts';
import { type Daemon, readDaemons } from '../../../runtime/daemons.ts';
import { BEHIND_MS, errorsText, type ReadableSource, readProgress } from '../../../service/register/watch/progress.ts';
import { isoTime, nullable, timeText } from '../../../service/routes/schemas.ts';
import { aboutRows } from '../../../store/count.ts';
import type { Db, Store } from '../../../store/store.ts';
import { defineOperation, type Moment } from '../../definition/operation.ts';
import type { ConnectionRow } from './connections.ts';
import { countThings, type InstallationState, readState, type StatusDeps, waitingOf, workOf } from './read-status.ts';
import { type Bar, readDay } from './trends.ts';

export interface StatusNeeds {
  readonly store: Store;
  readonly installed: () => Omit<StatusDeps, 'store'>;
  /** The sources of the register, and where they are; undefined if no service is configured. */
  readonly register?: { readonly sources: readonly ReadableSource[]; readonly from: string } | undefined;
}

export const installedOf = ({ connector, service }: Config): Omit<StatusDeps, 'store'> => ({
  crms: (connector?.providers ?? []).map(({ name, provider, settings, mask }) => ({
    name,
    limits: limitsOf({ name, provider, settings, mask }),
  })),
  halves: { connector: connector !== undefined, service: service !== undefined },
});

export interface RegisterState {
  readonly from: string;
  readonly error: string | null;
  /** About how many companies and production units are stored. */
  readonly stored: number;
  readonly parts: readonly {
    readonly name: string;
    readonly source: string;
    readonly state: 'waits' | 'loading' | 'behind' | 'up to date';
    readonly readAt: number | undefined;
    /** The first load has read all documents up to this time of the register. */
    readonly loadedUntil: number | undefined;
  }[];
}

export interface Status extends InstallationState {
  readonly at: number;
  /** Counts of the last 24 hours, up to two minutes behind. */
  readonly day: Bar['counts'];
  /** How many things need a person. */
  readonly things: number;
  readonly daemons: readonly Pick<Daemon, 'name' | 'roles' | 'startedAt' | 'seenAt'>[];
  readonly register: RegisterState | undefined;
}

const count = (description: string) => Type.Integer({ minimum: 0, description });
const maybeTime = (description: string) => nullable(timeText(description));

const answer = Type.Object(
  {
    at: timeText('When it was read'),
    needsPerson: count('How many things need a person'),
    conditions: Type.Array(
      Type.Object({ what: Type.String(), advice: Type.String(), since: maybeTime('Since when, if that is known') }),
      { description: 'What is not well, and what to do' },
    ),
    review: Type.Array(Type.Object({ kind: Type.String(), count: count('Counted up to 1,001') }), {
      description: 'What waits in review, by kind',
    }),
    differences: count('Properties where the CRM keeps another value than the register; counted up to 1,001'),
    daemons: Type.Array(
      Type.Object({
        name: Type.String(),
        roles: Type.Array(Type.String()),
        startedAt: timeText('When it started'),
        seenAt: timeText('When it last wrote into the store'),
      }),
    ),
    connections: Type.Array(
      Type.Object({
        name: Type.String(),
        state: Type.String({
          description: 'ok; left: a person left it; paused: it may not be called; silent: it does not answer',
        }),
        reason: nullable(Type.String()),
        since: maybeTime('Since when it does not answer, or when it was left'),
        until: maybeTime('Until when it is paused'),
        decidedAt: maybeTime('When a record was last decided'),
        writtenAt: maybeTime('When a record was last written'),
        callsPerMinute: Type.Number({ description: 'Calls that the account allows in a minute' }),
      }),
    ),
    register: nullable(
      Type.Object({
        from: Type.String(),
        error: nullable(Type.String()),
        stored: count('About how many companies and production units are stored'),
        parts: Type.Array(
          Type.Object({
            name: Type.String(),
            source: Type.String(),
            state: Type.String({ description: 'waits, loading, behind or up to date' }),
            readAt: maybeTime('When it was last read'),
            loadedUntil: maybeTime('Until which time of the register the first load is read'),
          }),
        ),
      }),
    ),
    sources: Type.Array(
      Type.Object({
        name: Type.String(),
        error: nullable(Type.String()),
        failsSince: maybeTime('Since when it cannot be read'),
        dueAt: maybeTime('When it is read next'),
      }),
    ),
    queues: Type.Array(
      Type.Object({
        queue: Type.String(),
        ready: count('Due now'),
        leased: count('Worked on'),
        waiting: count('Due later'),
        parked: count('Failed for good'),
        oldestSince: maybeTime('Since when the oldest is behind'),
      }),
      { description: 'Queues in which there is work' },
    ),
    records: Type.Array(
      Type.Object({
        connection: Type.String(),
        countedAt: maybeTime('When they were counted, to the hour'),
        linked: count('Linked records'),
        differing: count('Records that hold another value than the register'),
        left: count('Records on hold'),
        failing: count('Records that cannot be synced, or of which the CRM refuses a value'),
      }),
      { description: 'The linked records of each connection, counted every ten minutes; the others are in sync' },
    ),
    day: Type.Object(
      {
        received: count('Events received'),
        written: count('Values written'),
        kept: count('Edits of people kept'),
        refused: count('Values refused'),
        sent: count('Deliveries made'),
        failed: count('Failed attempts to deliver'),
      },
      { description: 'Counts of the last 24 hours, up to two minutes behind' },
    ),
    failing: count('Deliveries that wait for another attempt'),
    first: nullable(Type.String({ description: 'What to do first: link or read' })),
  },
  { description: 'How the installation does' },
);

export const readStatus = defineOperation({
  name: 'status.read',
  role: 'viewer',
  about: 'show how the installation does: connections, register, queues, and what needs you',
  input: Type.Object({}),
  api: { method: 'GET', path: '/status', operationId: 'readStatus', status: 200, answer },
  async read(_db, _input, { store, installed, register, now }: StatusNeeds & Moment) {
    return { value: await statusOf({ store, ...installed() }, register, now) };
  },
  view: viewOf,
});

async function statusOf(deps: StatusDeps, register: StatusNeeds['register'], now: number): Promise<Status> {
  const { db } = deps.store;
  const state = await readState(deps, now);
  const daemons = await readDaemons(db, now);
  return {
    ...state,
    at: now,
    day: await readDay(db, now),
    things: countThings(state) + (daemons.length === 0 ? 1 : 0),
    daemons,
    register: register && (await registerOf(db, register, now)),
  };
}

async function registerOf(
  db: Db,
  { sources, from }: NonNullable<StatusNeeds['register']>,
  now: number,
): Promise<RegisterState> {
  const progress = await readProgress(db, sources);
  return {
    from,
    error: progress === undefined ? null : errorsText(progress, sources.length === 1),
    stored: (await aboutRows(db, 'snapshot')).count,
    parts: (progress?.parts ?? []).map(({ name, source, readAt, loadedUntil, more }) => ({
      name,
      source,
      state: readAt === 0 ? 'waits' : now - readAt > BEHIND_MS ? 'behind' : more === true ? 'loading' : 'up to date',
      readAt: readAt === 0 ? undefined : readAt,
      loadedUntil: loadedUntil === 0 ? undefined : loadedUntil,
    })),
  };
}

const iso = (ms: number | null | undefined): string | null => isoTime(ms ?? null);

function viewOf(status: Status) {
  const { at, things, conditions, daemons, connections, register, sources, day, differences, first, shares } = status;
  const { received = 0, written = 0, kept = 0, refused = 0, sent = 0, failed = 0 } = day;
  return {
    at: iso(at),
    needsPerson: things,
    conditions: conditions.map(({ what, advice, since }) => ({ what, advice, since: iso(since) })),
    review: waitingOf(status).map(({ kind, count }) => ({ kind, count })),
    differences,
    daemons: daemons.map(({ name, roles, startedAt, seenAt }) => {
      return { name, roles, startedAt: iso(startedAt), seenAt: iso(seenAt) };
    }),
    connections: connections.map(connectionView),
    register: register === undefined ? null : registerView(register),
    sources: sources.map(({ name, error, since, dueAt }) => {
      return { name, error, failsSince: error === null ? null : iso(since), dueAt: iso(dueAt) };
    }),
    queues: workOf(status).map(({ oldestSince, ...counts }) => ({ ...counts, oldestSince: iso(oldestSince) })),
    records: shares.map(({ provider: connection, at: countedAt, ...counts }) => {
      return { connection, countedAt: iso(countedAt), ...counts };
    }),
    day: { received, written, kept, refused, sent, failed },
    failing: status.failing,
    first: first ?? null,
  };
}

const registerView = ({ parts, ...rest }: RegisterState) => ({
  ...rest,
  parts: parts.map(({ readAt, loadedUntil, ...part }) => {
    return { ...part, readAt: iso(readAt), loadedUntil: iso(loadedUntil) };
  }),
});

function reasonOf(state: ConnectionRow['state']): string | null {
  switch (state.kind) {
    case 'ok':
      return null;
    case 'left':
      return `left by ${state.by}`;
    case 'paused':
      return state.reason;
    case 'silent':
      return state.failure;
  }
}

const connectionView = ({ name, state, callsPerMinute, decidedAt, writtenAt }: ConnectionRow) => ({
  name,
  state: state.kind,
  reason: reasonOf(state),
  since: state.kind === 'silent' ? iso(state.since) : state.kind === 'left' ? iso(state.at) : null,
  until: state.kind === 'paused' ? iso(state.until) : null,
  decidedAt: iso(decidedAt),
  writtenAt: iso(writtenAt),
  callsPerMinute,
});
