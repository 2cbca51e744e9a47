/**
 * The connections of a world to its PostgreSQL, the only real network that it has. A statement leaves at once, and the world
 * stands still until it is answered, or waits for a lock of another connection. What the server answers arrives as an entry
 * of the scheduler, so that transactions of several daemons overlap as the seed decides.
 */
import type { Client } from 'pg';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { type Connection, takeConnection } from './connection.ts';
import type { LetThrough } from './network.ts';
import type { Owner, Time } from './time.ts';

export interface Connections {
  /** Lets sockets to the server through. */
  readonly letThrough: LetThrough;
  /** Waits until each statement is answered or waits for a lock; false if nothing was under way. */
  rest(): Promise<boolean>;
  /** Whether a transaction or a statement is open, or an answer on its way. */
  isBusy(): boolean;
  /** After so many answers to a process, the server ends all its connections; nobody receives the last one. */
  sever(owner: Owner, answers: number): void;
  /** What the server does about a process that stands still for so long. */
  stall(owner: Owner, ms: number): void;
  /** Asks the server something that no process of the world asks. */
  ask<Row extends object>(statement: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Cuts all; what is open rolls back. */
  close(): Promise<void>;
}

export interface ConnectionsOptions {
  /** The path of the server's socket. */
  readonly path: string;
  readonly time: () => Time;
  readonly seed: number;
  /** A connection of the world's own, which answers while the world stands still. */
  readonly eye: Client;
}

/** How long a statement may take before the world asks whether it waits for a lock, in ms of the machine. */
const PATIENCE_MS = 10;
const LONGEST_MS = 60_000;
/** The server ends a transaction whose process is silent for so long: see `idle_in_transaction_session_timeout`. */
const SILENT_MS = 15_000;
/** After so long the machine stands still, not the process alone, and no connection is left of it. */
const LOST_MS = 60_000;

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

export function openConnections({ path, time, seed, eye }: ConnectionsOptions): Connections {
  const random = randomFrom(seed ^ 0x9051);
  const all = new Set<Connection>();
  const ending = new Set<Promise<unknown>>();
  const severedAfter = new Map<Owner, number>();
  let asked: Promise<unknown> = Promise.resolve();
  let wake = (): void => undefined;

  /** Most statements take no time; some so long that others come between those of a transaction. */
  const delay = (): number => (random.chance(0.03) ? random.int(20, 300) : random.int(0, 300) / 100);

  function ask<Row extends object>(statement: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const answer = asked.then(() => eye.query<Row>(statement, [...values])).then(({ rows }) => rows);
    asked = answer.catch(() => undefined);
    return answer;
  }

  /** The server ends a connection, which its process learns when it comes to that. */
  function end(connection: Connection): void {
    const { pid, isClosed } = connection;
    if (pid === undefined || isClosed) return;
    Object.assign(connection, { isAsked: true, isStuck: false });
    const ended: Promise<unknown> = ask('select pg_terminate_backend($1, 5000)', [pid]);
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  }

  function cut(connection: Connection): void {
    if (!all.delete(connection)) return;
    connection.cut();
    end(connection);
  }

  function add(connection: Connection): void {
    all.add(connection);
    void connection.owner?.died.then(() => cut(connection));
  }

  function onProgress(connection: Connection, what: 'answered' | 'freed' | 'closed'): void {
    if (what === 'closed') all.delete(connection);
    if (what !== 'answered') for (const each of all) each.isStuck = false;
    wake();
  }

  /** Resolves with true once something comes from the server. */
  function somethingComes(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = real.setTimeout(() => resolve(false), PATIENCE_MS);
      wake = () => {
        real.clearTimeout(timer);
        resolve(true);
      };
    });
  }

  async function findStuck(): Promise<void> {
    const waits = await ask<Wait>(WAITS, [[...all].flatMap(({ pid }) => pid ?? [])]);
    const busy = new Set([...all].filter(({ isAsked }) => isAsked).map(({ pid }) => pid));
    const stuck = stuckOf(waits, (pid) => busy.has(pid));
    for (const connection of all) connection.isStuck = connection.pid !== undefined && stuck.has(connection.pid);
  }

  function endAll(owner: Owner, which: (connection: Connection) => boolean = () => true): void {
    for (const each of all) if (each.owner === owner && which(each)) end(each);
  }

  /** Whether this is the answer that a process loses, with its connections. */
  function isLost(owner: Owner): boolean {
    const left = severedAfter.get(owner);
    if (left === undefined) return false;
    severedAfter.set(owner, left - 1);
    return left <= 1 && severedAfter.delete(owner);
  }

  /** Has all that arrived received, each at a time of its own. */
  function deliver(): void {
    // What came first is received first.
    for (const connection of [...all].filter(({ isUnread }) => !isUnread)) {
      const { owner } = connection;
      if (owner !== undefined && connection.hasArrived() && isLost(owner)) {
        connection.lose();
        endAll(owner);
      }
      const receive = connection.take();
      if (receive === undefined) continue;
      // What people and oracles do is done in one moment, as on SQLite, unless it waits for a lock.
      if (owner === undefined) time().next('an answer of the store', receive);
      else time().after(delay(), 'an answer of the store', receive, owner);
    }
  }

  const isUnderWay = (): boolean => ending.size > 0 || [...all].some(({ isAsked, isStuck }) => isAsked && !isStuck);

  return {
    letThrough: (target) =>
      target === path ? (socket) => add(takeConnection(socket, time().owner(), onProgress)) : undefined,
    async rest() {
      let hasWaited = false;
      for (let tries = 0; isUnderWay(); ) {
        hasWaited = true;
        await Promise.all(ending);
        tries = !isUnderWay() || (await somethingComes()) ? 0 : tries + 1;
        if (tries > LONGEST_MS / PATIENCE_MS) throw new Error('PostgreSQL does not answer');
        if (tries > 0) await findStuck();
      }
      deliver();
      return hasWaited;
    },
    isBusy: () => [...all].some(({ isAsked, isInTransaction, isUnread }) => isAsked || isInTransaction || isUnread),
    sever: (owner, answers) => void severedAfter.set(owner, answers),
    stall(owner, ms) {
      if (ms > SILENT_MS)
        time().after(SILENT_MS, 'the server ends transactions', () => endAll(owner, (each) => each.isInTransaction));
      if (ms > LOST_MS) time().after(LOST_MS, 'the server ends connections', () => endAll(owner));
    },
    ask,
    async close() {
      for (const connection of all) cut(connection);
      await Promise.all(ending);
    },
  };
}

interface Wait {
  readonly pid: number;
  readonly blockers: readonly number[];
}

const WAITS = `select pid, pg_blocking_pids(pid) as blockers from pg_stat_activity
  where pid = any($1) and wait_event_type = 'Lock'`;

/** Who waits, perhaps through others, for one who does nothing. Those of a deadlock wait for each other, and the server ends that. */
export function stuckOf(waits: readonly Wait[], isBusy: (pid: number) => boolean): ReadonlySet<number> {
  const stuck = new Set<number>();
  for (let before = -1; before < stuck.size; ) {
    before = stuck.size;
    for (const { pid, blockers } of waits)
      if (blockers.some((blocker) => !isBusy(blocker) || stuck.has(blocker))) stuck.add(pid);
  }
  return stuck;
}
