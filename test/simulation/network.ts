/**
 * The network of a world: requests of this process reach handlers in this process, after delays and through troubles that
 * come from the seed. A real socket, a look-up of a name or a new process is an error.
 */
import childProcess from 'node:child_process';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type {
  EmulatorAnswer,
  EmulatorHandler,
  EmulatorRequest,
  ServedEmulator,
  serveEmulator,
} from '../../providers/kit/emulator/emulator.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import { digest, type Exchange, openExchange } from './exchange.ts';
import type { Owner, Time } from './time.ts';

/**
 * `down`: no connection. `lost`: the work is done and the answer is lost. `cut`: so is the second half of the answer.
 * `twice`: the request arrives twice. `slow`: it arrives late, perhaps after its sender gave up; `late`: long after. `old`: it is answered at
 * once, and the answer arrives late. `busy`: the host answers 503. `full`: 429, and asks for a pause.
 */
export const TROUBLES = ['down', 'reset', 'lost', 'cut', 'twice', 'slow', 'late', 'old', 'busy', 'full'] as const;
/** `spent`: the calls of the account's day are used up. */
export type Trouble = (typeof TROUBLES)[number] | 'spent';

/** How long a late request or answer takes at most: a deadline passes meanwhile, a lease too. */
const LATE_MS = { slow: [200, 45_000], late: [40_000, 240_000], old: [200, 45_000] } as const;

export interface Network {
  /** Serves a handler at `http://<name>.sim`, as a `serve` of the emulators. */
  readonly serve: (name: string) => typeof serveEmulator;
  /** Serves a process of the world; undefined while it is down. */
  serveProcess(name: string, at: () => { readonly owner: Owner; readonly handle: EmulatorHandler } | undefined): string;
  /** A share of the requests to a host meets a trouble, until a time. */
  disturb(host: string, what: Trouble, share: number, until: number): void;
  /** Ends all troubles. */
  calm(): void;
  /** Requests that are on their way. */
  readonly inFlight: number;
  /** Whose request a host of the world answers now. */
  readonly sender: Owner | undefined;
  uninstall(): void;
}

interface Host {
  readonly owner: Owner | undefined;
  readonly handle: EmulatorHandler;
}

interface Disturbance {
  readonly what: Trouble;
  readonly share: number;
  readonly until: number;
}

/** Whether a socket may connect to a path outside the world; what it returns is called once it begins to. */
export type LetThrough = (path: unknown) => ((socket: net.Socket) => void) | undefined;

export interface NetworkOptions {
  readonly onCall?: (host: string, path: string) => void;
  readonly letThrough?: LetThrough | undefined;
}

export function installNetwork(
  seed: number,
  time: Time,
  note: (line: string) => void,
  { onCall = () => undefined, letThrough = () => undefined }: NetworkOptions = {},
): Network {
  const random = randomFrom(seed ^ 0x0e7);
  const hosts = new Map<string, () => Host | undefined>();
  const disturbances = new Map<string, readonly Disturbance[]>();
  const flying = new Set<Exchange>();
  let sender: Owner | undefined;

  const troubleFor = (host: string): Trouble | undefined => {
    const some = (disturbances.get(host) ?? []).filter(({ until }) => until > time.now());
    disturbances.set(host, some);
    return some.find(({ share }) => random.chance(share))?.what;
  };

  const onEnd = (exchange: Exchange, result: string): void => {
    const { host, request } = exchange;
    flying.delete(exchange);
    note(`${host} ${request.method} ${request.path} ${digest(request.body)} ${result}`);
  };

  function dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const owner = time.owner();
    if (owner?.isDead === true) return true;
    const exchange = openExchange(options, handler, owner, onEnd);
    if (exchange.isOver) return true;
    flying.add(exchange);
    onCall(exchange.host, exchange.request.path);
    const trouble = troubleFor(exchange.host);
    if (trouble !== undefined) note(`trouble ${exchange.host} ${trouble}`);
    const [there, back] = [delay(random), delay(random)];
    const early = trouble === undefined ? undefined : EARLY_ENDS[trouble];
    if (early !== undefined) time.after(there + back, 'end', () => early(exchange), owner);
    else time.after(there + lateness(['slow', 'late'], trouble), 'arrival', () => void arrive(exchange, trouble, back));
    return true;
  }

  const lateness = (kinds: readonly (keyof typeof LATE_MS)[], trouble: Trouble | undefined): number => {
    const kind = kinds.find((each) => each === trouble);
    const [least, most] = LATE_MS[kind ?? 'slow'];
    return kind === undefined ? 0 : random.int(least, most);
  };

  /** A request is at its host: it is done, and the answer leaves. */
  async function arrive(exchange: Exchange, trouble: Trouble | undefined, back: number): Promise<void> {
    const host = hosts.get(exchange.host)?.();
    const waits = host?.owner === undefined ? 0 : time.frozenUntil(host.owner) - time.now();
    if (waits > 0) return time.after(waits, 'arrival', () => void arrive(exchange, trouble, back));
    sender = exchange.owner;
    const given = host && (await done(host, exchange.request, trouble === 'twice' ? 2 : 1));
    const leave = (run: () => void): void =>
      time.after(back + lateness(['old'], trouble), 'answer', run, exchange.owner);
    if (host === undefined) leave(() => exchange.fail('ECONNREFUSED'));
    else if (given === undefined || trouble === 'lost') leave(() => exchange.fail('ECONNRESET'));
    else leave(() => exchange.answer(given, trouble === 'cut'));
  }

  /** Has a host do what it is asked; undefined if it dies meanwhile. */
  function done({ owner, handle }: Host, request: EmulatorRequest, times: number): Promise<EmulatorAnswer | undefined> {
    const work = async (): Promise<EmulatorAnswer> => {
      const first = await handle(request);
      for (let time = 1; time < times; time += 1) await handle(request);
      return first;
    };
    return owner === undefined ? work() : Promise.race([time.as(owner, work), owner.died]);
  }

  const undo = [replaceMethod(Agent.prototype, 'dispatch', dispatch), ...forbidMachine(letThrough)];
  return {
    serve:
      (name) =>
      async (handle): Promise<ServedEmulator> => {
        hosts.set(name, () => ({ owner: undefined, handle }));
        return { url: `http://${name}.sim`, calls: [], fault: () => undefined, close: async () => undefined };
      },
    serveProcess(name, at) {
      hosts.set(name, at);
      return `http://${name}.sim`;
    },
    disturb: (host, what, share, until) =>
      void disturbances.set(host, [...(disturbances.get(host) ?? []), { what, share, until }]),
    calm() {
      // A day's calls come back with the next day only.
      for (const [host, some] of disturbances)
        disturbances.set(
          host,
          some.filter(({ what }) => what === 'spent'),
        );
    },
    get inFlight() {
      for (const exchange of flying) if (exchange.owner?.isDead === true) flying.delete(exchange);
      return flying.size;
    },
    get sender() {
      return sender;
    },
    uninstall() {
      for (const step of undo) step();
      syncBuiltinESMExports();
    },
  };
}

const HUBSPOT_SPENT: EmulatorAnswer = {
  status: 429,
  body: {
    status: 'error',
    message: 'You have reached your daily limit.',
    errorType: 'RATE_LIMIT',
    policyName: 'DAILY',
  },
};
const SALESFORCE_SPENT: EmulatorAnswer = {
  status: 403,
  body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }],
};

/** Troubles of requests that reach nobody. */
const EARLY_ENDS: Readonly<Partial<Record<Trouble, (exchange: Exchange) => void>>> = {
  down: (exchange) => exchange.fail('ECONNREFUSED'),
  reset: (exchange) => exchange.fail('ECONNRESET'),
  busy: (exchange) => exchange.answer({ status: 503, body: '<html>' }, false),
  full: (exchange) =>
    exchange.answer(
      { status: 429, headers: { 'retry-after': '3' }, body: { status: 'error', category: 'RATE_LIMITS' } },
      false,
    ),
  spent: (exchange) => exchange.answer(exchange.host === 'hubspot' ? HUBSPOT_SPENT : SALESFORCE_SPENT, false),
};

/** Most calls are quick; some take so long that a record must be read again before it is written. */
const delay = (random: Random): number => (random.chance(0.05) ? random.int(50, 1_500) : random.int(1, 40));

function replaceMethod(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { configurable: true, writable: true, value });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}

/** Where a socket is to connect to, if that is a path: given as such, or as one of the options that `net.connect` made of it. */
function pathIn([first]: readonly unknown[]): unknown {
  const options: unknown = Array.isArray(first) ? first[0] : first;
  return typeof options === 'object' && options !== null ? Reflect.get(options, 'path') : options;
}

/** Sockets, names and processes of the machine: whoever asks for one has left the world. */
function forbidMachine(letThrough: LetThrough): readonly (() => void)[] {
  const refuse = (name: string): never => {
    throw new Error(`the simulation has no ${name} of the machine`);
  };
  const forbid = (target: object, name: string) => replaceMethod(target, name, () => refuse(name));
  const connect: unknown = Reflect.get(net.Socket.prototype, 'connect');
  function connectThrough(this: net.Socket, ...given: unknown[]): unknown {
    const follow = letThrough(pathIn(given));
    if (follow === undefined || typeof connect !== 'function') return refuse('connect');
    Reflect.apply(connect, this, given);
    follow(this);
    return this;
  }
  const undo = [
    replaceMethod(net.Socket.prototype, 'connect', connectThrough),
    forbid(net.Server.prototype, 'listen'),
    forbid(dns, 'lookup'),
    forbid(dns.promises, 'lookup'),
    forbid(childProcess, 'spawn'),
  ];
  syncBuiltinESMExports();
  return undo;
}
