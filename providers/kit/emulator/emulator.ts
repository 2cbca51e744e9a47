/**
 * The base of every CRM emulator: an HTTP server on loopback with scripted faults and counters. An emulator is as
 * strict as the real CRM. It serves the demo, the tests and plugin authors, in the same process or as `cvrsync emulate
 * NAME`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PropertyValue } from '../../provider.ts';

/** What goes wrong, and how. `applied: true` does the work first and loses the answer. */
export type FaultAction =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'hang'; readonly applied?: boolean }
  | { readonly kind: 'reset'; readonly applied?: boolean }
  | { readonly kind: 'cut'; readonly applied?: boolean }
  /** `start` does the work at once and answers late, with an old answer. `end`, the default, works after the wait. */
  | { readonly kind: 'slow'; readonly ms: number; readonly at?: 'start' | 'end' };

/**
 * A scripted fault: `match` is a regular expression on `METHOD /path`, `body` one on the request's body, as a firewall
 * reads it. It strikes `times` requests (1) after skipping `after` (0).
 */
export interface ScriptedFault {
  readonly match: string;
  readonly body?: string;
  readonly times?: number | 'always';
  readonly after?: number;
  readonly action: FaultAction;
}

export interface EmulatorRequest {
  readonly method: string;
  /** Path with query, as sent. */
  readonly path: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface EmulatorAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string unchanged, undefined as no body. */
  readonly body?: unknown;
}

export interface Call {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The time that the emulator took, in ms. */
  readonly ms: number;
}

/** The controls of every CRM emulator, for tests, the demo and benches. */
export interface CrmEmulator {
  readonly name: string;
  readonly url: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Adds a company and returns its id. Unknown properties are an error, as in the CRM. */
  add(properties: Readonly<Record<string, PropertyValue>>): string;
  /** The record's values, in the contract's spelling; undefined if no live record has the id. */
  get(id: string): Readonly<Record<string, PropertyValue>> | undefined;
  /** A person's edit, without the API; if the CRM records the editor, `by` is the person's name. */
  edit(id: string, properties: Readonly<Record<string, PropertyValue>>, by?: string): void;
  remove(id: string): void;
  /** Merges `other` into `primary` and returns the survivor's id. */
  merge(primary: string, other: string): string;
  /** Restores a deleted record, as a person would. */
  restore(id: string): void;
  notes(id: string): readonly string[];
  parent(id: string): string | null;
  fault(fault: ScriptedFault): void;
  /** Every API call so far, oldest first; at most the newest 200,000. */
  readonly calls: readonly Call[];
  /** Called with the record's id after every applied write, so that a bench can time it. */
  onWrite: ((id: string, properties: Readonly<Record<string, PropertyValue>>) => void) | undefined;
  /** Called after a read by id, before its answer leaves: the answer does not contain an edit made here. */
  onRead?: ((ids: readonly string[]) => void) | undefined;
  /** Called before an update is checked or applied: the update meets an edit made here. */
  onArrival?: ((ids: readonly string[]) => void) | undefined;
  close(): Promise<void>;
}

/** How the CRM changes texts that come through its API, by property: by a trigger, a workflow, or its own rules. */
export type Respell = Readonly<Record<string, (text: string) => string>>;

/** The values as such a CRM stores them. */
export const respelled = <V extends PropertyValue>(
  values: Readonly<Record<string, V>>,
  respell: Respell = {},
): Record<string, V | string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const make = Object.hasOwn(respell, name) ? respell[name] : undefined;
      return [name, typeof value === 'string' && value !== '' && make !== undefined ? make(value) : value];
    }),
  );

export interface EmulatorOptions {
  /** 0 picks a free port. */
  readonly port?: number;
  readonly seed?: number;
  readonly faults?: readonly ScriptedFault[];
  readonly now?: () => number;
  readonly respell?: Respell;
  /** Serves the handler in place of {@link serveEmulator}, for a network that has no sockets. */
  readonly serve?: typeof serveEmulator;
}

export interface ServedEmulator {
  readonly url: string;
  readonly calls: Call[];
  fault(fault: ScriptedFault): void;
  close(): Promise<void>;
}

const MAX_CALLS = 200_000;

/** Answers a request; synchronously if it has state, so that requests never interleave in it. */
export type EmulatorHandler = (request: EmulatorRequest) => EmulatorAnswer | Promise<EmulatorAnswer>;

/** Serves a handler on loopback, faults first. */
export async function serveEmulator(handle: EmulatorHandler, options: EmulatorOptions = {}): Promise<ServedEmulator> {
  const script = (options.faults ?? []).map(compileFault);
  const calls: Call[] = [];
  const now = options.now ?? Date.now;

  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('error', () => res.destroy());
    req.on('end', () => {
      const path = req.url ?? '/';
      const method = req.method ?? 'GET';
      const request: EmulatorRequest = {
        method,
        path,
        headers: req.headers,
        url: new URL(path, 'http://emulator.invalid'),
        body: Buffer.concat(chunks).toString('utf8'),
      };
      const started = performance.now();
      const respond = async () => {
        const answer = await guarded(handle, request);
        if (calls.length >= MAX_CALLS) calls.splice(0, MAX_CALLS / 10);
        calls.push({ at: now(), method, path, status: answer.status, ms: performance.now() - started });
        return answer;
      };
      void strike(takeFault(script, `${method} ${request.url.pathname}`, request.body), respond, req, res);
    });
  });
  server.keepAliveTimeout = 65_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    fault: (fault) => void script.push(compileFault(fault)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface CompiledFault {
  readonly match: RegExp;
  readonly body: RegExp | undefined;
  skip: number;
  left: number;
  readonly action: FaultAction;
}

const compileFault = (fault: ScriptedFault): CompiledFault => ({
  match: new RegExp(fault.match),
  body: fault.body === undefined ? undefined : new RegExp(fault.body),
  skip: fault.after ?? 0,
  left: fault.times === 'always' ? Number.POSITIVE_INFINITY : (fault.times ?? 1),
  action: fault.action,
});

function takeFault(script: CompiledFault[], line: string, body: string): FaultAction | undefined {
  for (const fault of script) {
    if (fault.left <= 0 || !fault.match.test(line) || fault.body?.test(body) === false) continue;
    if (fault.skip > 0) {
      fault.skip -= 1;
      continue;
    }
    fault.left -= 1;
    return fault.action;
  }
  return undefined;
}

async function guarded(handle: EmulatorHandler, request: EmulatorRequest): Promise<EmulatorAnswer> {
  try {
    return await handle(request);
  } catch (error) {
    return {
      status: 500,
      body: { message: `emulator fault: ${error instanceof Error ? error.message : String(error)}` },
    };
  }
}

async function strike(
  action: FaultAction | undefined,
  respond: () => Promise<EmulatorAnswer>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (action === undefined || action.kind === 'status') {
    send(res, action ?? (await respond()));
    return;
  }
  if (action.kind === 'slow') {
    const early = action.at === 'start' ? await respond() : undefined;
    await sleep(action.ms);
    send(res, early ?? (await respond()));
    return;
  }
  const answer = action.applied === true ? await respond() : { status: 200, body: { cut: 'here' } };
  if (action.kind === 'hang') return;
  if (action.kind === 'reset') {
    req.socket.destroy();
    return;
  }
  const text = payload(answer);
  res.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text) + 10),
    ...answer.headers,
  });
  res.write(text.slice(0, Math.ceil(text.length / 2)), () => req.socket.destroy());
}

const payload = (answer: EmulatorAnswer): string =>
  answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);

function send(res: ServerResponse, answer: EmulatorAnswer): void {
  if (res.destroyed) return;
  const text = payload(answer);
  const type =
    typeof answer.body === 'object' && answer.body !== null ? { 'content-type': 'application/json;charset=utf-8' } : {};
  res.writeHead(answer.status, { ...type, ...answer.headers });
  res.end(text);
}
