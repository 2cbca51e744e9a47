/**
 * Time, chance and the end of a process, as the world gives them. While a world runs, every timer and every random number
 * of this process comes from here: a timer waits in one list, and the scheduler runs one entry after the other. Entries of
 * the same moment come in an order that the seed decides.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';

/** A process of the world. What belongs to a dead one never runs again. */
export interface Owner {
  readonly name: string;
  readonly isDead: boolean;
  readonly died: Promise<undefined>;
  die(): void;
}

export function newOwner(name: string): Owner {
  const death = Promise.withResolvers<undefined>();
  let isDead = false;
  return {
    name,
    get isDead() {
      return isDead;
    },
    died: death.promise,
    die() {
      isDead = true;
      death.resolve(undefined);
    },
  };
}

interface Entry {
  at: number;
  readonly order: number;
  readonly seq: number;
  readonly owner: Owner | undefined;
  /** What it is, for the trace. */
  readonly what: string;
  readonly run: () => void;
  isOver: boolean;
}

export interface Time {
  /** Ms since 1970. */
  now(): number;
  /** Runs something later, as a part of the world itself if `owner` is undefined. */
  after(ms: number, what: string, run: () => void, owner?: Owner): void;
  /** Runs something before all else, as a part of the world itself. */
  next(what: string, run: () => void): void;
  /** Runs entries until a promise settles; fails if the world stands still before, or runs without end. */
  until<T>(promise: Promise<T>): Promise<T>;
  /** Runs every entry until a time; `mayLeap` says how far the world may sleep when it could. */
  runTo(end: number, mayLeap?: () => number | Promise<number>): Promise<void>;
  /** A process stands still for so long: what it would do meanwhile, it does afterwards. */
  freeze(owner: Owner, ms: number): void;
  /** Until when a process stands still; 0 if it does not. */
  frozenUntil(owner: Owner): number;
  /** The process whose code runs now. */
  owner(): Owner | undefined;
  /** Runs code of a process. */
  as<T>(owner: Owner | undefined, work: () => T): T;
  /** How many entries ran. */
  readonly ran: number;
  readonly random: Random;
  uninstall(): void;
}

/** What an entry costs, in ms: without it, whoever waits by looking at the clock would wait for ever. */
const ENTRY_MS = 0.01;
/** Nothing that somebody waits for takes longer. */
const LONGEST_MS = 3_600_000;

const real = { setImmediate: globalThis.setImmediate, now: Date.now };
const owners = new AsyncLocalStorage<Owner | undefined>();

/**
 * Puts the world's time and chance in the place of the machine's, until `uninstall`. `note` hears of every entry that runs.
 * `outside` waits for what processes asked of a server outside the world, and says whether it had to.
 */
export function installTime(
  seed: number,
  start: number,
  note: (at: number, what: string) => void,
  outside?: () => Promise<boolean>,
): Time {
  const random = randomFrom(seed);
  const queue = openQueue();
  const frozen = new Map<Owner, number>();
  let now = start;
  let seq = 0;
  let ran = 0;

  const addAt = (at: number, what: string, run: () => void, owner: Owner | undefined): Entry => {
    const order = random.int(0, 1_000_000);
    const entry: Entry = { at, order, seq: seq++, owner, what, run, isOver: false };
    queue.push(entry);
    return entry;
  };
  const add = (ms: number, what: string, run: () => void, owner: Owner | undefined): Entry =>
    addAt(now + Math.max(0, ms), what, run, owner);

  async function atRest(turns = 1): Promise<void> {
    do await settled(turns);
    while (outside !== undefined && (await outside()));
  }

  async function runNext(): Promise<void> {
    const entry = queue.shift();
    if (entry === undefined) return;
    const thawed = entry.owner === undefined ? 0 : (frozen.get(entry.owner) ?? 0);
    if (thawed > Math.max(now, entry.at)) {
      entry.at = thawed;
      return queue.push(entry);
    }
    entry.isOver = true;
    now = Math.max(now + ENTRY_MS, entry.at);
    ran += 1;
    note(now, `${entry.owner?.name ?? 'world'} ${entry.what}`);
    owners.run(entry.owner, entry.run);
    await atRest();
  }

  const undo = replaceAll({ now: () => now, add, random: randomFrom(seed ^ 0x5eed) });
  return {
    now: () => Math.floor(now),
    after: (ms, what, run, owner) => void add(ms, what, run, owner),
    next: (what, run) => void addAt(0, what, run, undefined),
    async until(promise) {
      let isSettled = false;
      const done = () => {
        isSettled = true;
      };
      promise.then(done, done);
      await atRest();
      for (const end = now + LONGEST_MS; !isSettled; ) {
        if (queue.isEmpty() || now > end) await atRest(20);
        if (!isSettled && (queue.isEmpty() || now > end))
          throw new Error('the world waits for something that never comes');
        await runNext();
      }
      return promise;
    },
    async runTo(end, mayLeap = () => 0) {
      for (let next = queue.next(); next !== undefined && next.at <= end; next = queue.next()) {
        // All that falls due meanwhile runs afterwards, late: as on a machine that slept.
        if (next.at > now) now = Math.max(now, Math.min(end, await mayLeap()));
        await runNext();
      }
      now = Math.max(now, end);
    },
    freeze: (owner, ms) => void frozen.set(owner, now + ms),
    frozenUntil: (owner) => frozen.get(owner) ?? 0,
    owner: () => owners.getStore(),
    as: (owner, work) => owners.run(owner, work),
    get ran() {
      return ran;
    },
    random,
    uninstall: undo,
  };
}

/** Resolves once no callback and no read or write of a file is left that could go on by itself. */
async function settled(turns = 1): Promise<void> {
  for (let turn = 0; turn < turns || hasRequests(); turn += 1)
    await new Promise<void>((resolve) => real.setImmediate(resolve));
}

/** Files are the only thing outside the world that its processes may wait for. */
const hasRequests = (): boolean =>
  process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name.endsWith('Request'));

interface Queue {
  push(entry: Entry): void;
  shift(): Entry | undefined;
  next(): Entry | undefined;
  isEmpty(): boolean;
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.at !== other.at ? one.at < other.at : one.order !== other.order ? one.order < other.order : one.seq < other.seq;

/** A binary heap. */
function openQueue(): Queue {
  const heap: Entry[] = [];
  const at = (index: number): Entry => {
    const entry = heap[index];
    if (entry === undefined) throw new Error('no entry');
    return entry;
  };
  const swap = (one: number, other: number): void => {
    const entry = at(one);
    heap[one] = at(other);
    heap[other] = entry;
  };
  function shift(): Entry | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const small = right < heap.length && isBefore(at(right), at(left)) ? right : left;
      if (small >= heap.length || isBefore(at(index), at(small))) return first;
      swap(index, small);
      index = small;
    }
  }
  const next = (): Entry | undefined => {
    while (heap[0] !== undefined && (heap[0].isOver || heap[0].owner?.isDead === true)) shift();
    return heap[0];
  };
  return {
    push(entry) {
      let index = heap.push(entry) - 1;
      for (let up = (index - 1) >> 1; index > 0 && isBefore(at(index), at(up)); up = (index - 1) >> 1) {
        swap(index, up);
        index = up;
      }
    },
    shift: () => (next() === undefined ? undefined : shift()),
    next,
    isEmpty: () => next() === undefined,
  };
}

interface Source {
  readonly now: () => number;
  readonly add: (ms: number, what: string, run: () => void, owner: Owner | undefined) => Entry;
  readonly random: Random;
}

/** A timer as Node has them, with as much of its interface as somebody uses. */
class Timer {
  #entry: Entry;
  readonly #again: () => Entry;
  constructor(again: () => Entry) {
    this.#again = again;
    this.#entry = again();
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  refresh(): this {
    this.#entry.isOver = true;
    this.#entry = this.#again();
    return this;
  }
  close(): this {
    this.#entry.isOver = true;
    return this;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

type Callback = (...args: unknown[]) => void;

/** Replaces what a process asks for time and chance; returns what puts it back. */
function replaceAll(source: Source): () => void {
  const undo: (() => void)[] = [];
  const replace = (target: object, values: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(values)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { configurable: true, writable: true, enumerable: true, value });
      undo.push(() =>
        before === undefined ? Reflect.deleteProperty(target, name) : Object.defineProperty(target, name, before),
      );
    }
  };
  const timers = timersOf(source);
  const { now, random } = source;
  const share = (): number => random.int(0, 2 ** 30 - 1) / 2 ** 30;
  replace(globalThis, { ...timers, Date: dateOf(now) });
  replace(Date, { now: () => Math.floor(now()) });
  replace(Math, { random: share });
  replace(performance, { now });
  replace(process, { hrtime: Object.assign(() => [0, 0], { bigint: () => BigInt(Math.floor(now() * 1e6)) }) });
  replace(AbortSignal, { timeout: (ms: number) => abortedAfter(timers.setTimeout, ms) });
  replace(timersPromises, promisedOf(timers));
  replace(crypto, chanceOf(random));
  replace(globalThis.crypto, { randomUUID: chanceOf(random).randomUUID });
  syncBuiltinESMExports();
  return () => {
    for (const step of undo.reverse()) step();
    syncBuiltinESMExports();
  };
}

const dateOf = (now: () => number): DateConstructor =>
  new Proxy(Date, {
    construct: (target, args: unknown[], made) =>
      Reflect.construct(target, args.length === 0 ? [Math.floor(now())] : args, made),
    apply: () => new Date().toString(),
  });

function timersOf({ add }: Source) {
  const timer = (ms: unknown, what: string, run: () => void): Timer => {
    const owner = owners.getStore();
    const wait = Number(ms);
    return new Timer(() => add(wait >= 1 ? wait : 1, what, run, owner));
  };
  const clear = (given: unknown): void => {
    if (given instanceof Timer) given.close();
  };
  return {
    setTimeout: (run: Callback, ms?: unknown, ...args: unknown[]) => timer(ms, 'timer', () => run(...args)),
    setInterval(run: Callback, ms?: unknown, ...args: unknown[]) {
      const each: Timer = timer(ms, 'interval', () => {
        each.refresh();
        run(...args);
      });
      return each;
    },
    setImmediate: (run: Callback, ...args: unknown[]) => {
      const owner = owners.getStore();
      return new Timer(() => add(0, 'turn', () => run(...args), owner));
    },
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
}

type Timers = ReturnType<typeof timersOf>;

function promisedOf({ setTimeout, setImmediate }: Timers) {
  const wait = (
    start: (resolve: () => void) => Timer,
    value: unknown,
    signal: AbortSignal | undefined,
  ): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const timer = start(() => resolve(value));
      signal?.addEventListener('abort', () => {
        timer.close();
        reject(signal.reason);
      });
    });
  return {
    setTimeout: (ms?: number, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
      wait((resolve) => setTimeout(resolve, ms), value, signal),
    setImmediate: (value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
      wait((resolve) => setImmediate(resolve), value, signal),
  };
}

function abortedAfter(setTimeout: Timers['setTimeout'], ms: number): AbortSignal {
  const over = new AbortController();
  setTimeout(() => over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
  return over.signal;
}

/** Random numbers of the seed; a test of secrets belongs elsewhere. */
function chanceOf(random: Random) {
  const randomBytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => random.int(0, 255)));
  return {
    randomBytes,
    randomInt: (low: number, high?: number) =>
      high === undefined ? random.int(0, low - 1) : random.int(low, high - 1),
    randomUUID(): string {
      const text = randomBytes(16).toString('hex');
      return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`;
    },
  };
}
