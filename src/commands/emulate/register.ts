/** Emulates the company register's distribution, for tests, the demo and `cvrsync emulate register`. */
import type {
  EmulatorAnswer,
  EmulatorRequest,
  ScriptedFault,
  ServedEmulator,
} from '../../../providers/kit/emulator/emulator.ts';
import { serveEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import { type Hit, QueryRefusal, type RegisterHit, search } from './elastic.ts';
import { sampleSeries } from './sample/stream.ts';

export interface RegisterEmulatorOptions {
  /** 0 picks a free port. */
  readonly port?: number;
  readonly seed?: number;
  /** The number of sample companies at the start; 10 by default. */
  readonly companies?: number;
  readonly faults?: readonly ScriptedFault[];
  /** Serves it without a socket. */
  readonly serve?: typeof serveEmulator;
  readonly user?: string;
  readonly password?: string;
  /** Elasticsearch 7 returns the total as an object. A number by default, as in 6. */
  readonly totals?: 'number' | 'object';
}

export interface RegisterEmulator extends ServedEmulator {
  /** Settings of `service.register` that reach the emulator. */
  readonly settings: {
    readonly source: 'cvr';
    readonly baseUrl: string;
    readonly username: string;
    readonly password: string;
  };
  /** Stores or replaces the document of a unit. `loadedAt`: when the register loaded it; now by default. */
  put(document: unknown, loadedAt?: number): void;
  /** Changes one of the sample companies, loaded now or at another time, and returns the document. */
  change(loadedAt?: number): unknown;
  readonly documents: Readonly<Record<Index, ReadonlyMap<string, RegisterHit>>>;
  /** Rearranges the hits of later answers while it is set. */
  disturb: ((hits: readonly Hit[]) => readonly unknown[]) | undefined;
  /**
   * Makes later answers lack documents while it is set. `shard`: no node holds one of the six shards, which then counts
   * as neither successful nor failed. `early`: a search ends after the first documents of each shard.
   */
  partial: 'shard' | 'early' | undefined;
}

const INDICES = {
  virksomhed: { type: 'Vrvirksomhed', key: 'cvrNummer' },
  produktionsenhed: { type: 'VrproduktionsEnhed', key: 'pNummer' },
  deltager: { type: 'Vrdeltagerperson', key: 'enhedsNummer' },
} as const;
type Index = keyof typeof INDICES;
const isIndex = (name: string | undefined): name is Index => name !== undefined && Object.hasOwn(INDICES, name);

const PATH = /^\/cvr-permanent\/([a-z]+)(?:\/_doc)?\/_(search|count)$/;
const ENDLESS = 10_000_000;

/** Not an ordinary word, because cvrsync masks it in all output of a configuration with it. */
const PASSWORD = 'emulated-register-password';

/** Serves the indices of companies, production units and participants, with sample companies. */
export async function serveRegister(options: RegisterEmulatorOptions = {}): Promise<RegisterEmulator> {
  const { seed = 1, companies = 10, user = 'cvrsync', password = PASSWORD, totals = 'number' } = options;
  const documents = {
    virksomhed: new Map<string, RegisterHit>(),
    produktionsenhed: new Map<string, RegisterHit>(),
    deltager: new Map<string, RegisterHit>(),
  };
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const series = sampleSeries(seed, companies, ENDLESS);

  function put(document: unknown): void {
    for (const [index, { type, key }] of Object.entries(INDICES)) {
      const unit = isJsonObject(document) ? document[type] : undefined;
      if (!isIndex(index) || !isJsonObject(unit) || !isJsonObject(document)) continue;
      documents[index].set(String(unit[key]), structuredClone(document));
      return;
    }
    throw new Error('not a document of the register: it has no Vrvirksomhed, VrproduktionsEnhed or Vrdeltagerperson');
  }

  function handle({ method, url, headers, body }: EmulatorRequest): EmulatorAnswer {
    if (headers.authorization !== expected)
      return { status: 401, headers: { 'www-authenticate': 'Basic realm="Distribution"' }, body: 'Unauthorized' };
    const [, index, verb] = PATH.exec(url.pathname) ?? [];
    if (!isIndex(index))
      return refusal(new QueryRefusal(404, `index_not_found_exception: no such index [${url.pathname}]`));
    if (method !== 'GET' && method !== 'POST')
      return refusal(new QueryRefusal(405, `Incorrect HTTP method: ${method}`));
    try {
      return { status: 200, body: answerTo(index, verb, body) };
    } catch (error) {
      if (error instanceof QueryRefusal) return refusal(error);
      return refusal(new QueryRefusal(400, 'json_parse_exception: the body is no JSON'));
    }
  }

  function answerTo(index: keyof typeof INDICES, verb: string | undefined, body: string): object {
    const asked: unknown = body === '' ? {} : JSON.parse(body);
    const { partial, disturb } = emulator;
    const lacks = LACKING[partial ?? 'nothing'];
    const kept = [...documents[index]].filter(([key], place) => !lacks(key, place));
    const { total, hits } = search(index, new Map(kept), asked);
    const shards = partial === 'shard' ? { ...SHARDS, successful: SHARDS.total - 1 } : SHARDS;
    if (verb === 'count') return { count: total, ...(partial === 'early' && EARLY), _shards: shards };
    const shown = disturb === undefined ? hits : disturb(hits);
    const head = { took: 1, timed_out: false, ...(partial === 'early' && EARLY), _shards: shards };
    return { ...head, hits: { ...totalOf(total), hits: shown } };
  }

  const totalOf = (total: number) => ({
    total: totals === 'number' ? total : { value: total, relation: 'eq' },
    max_score: null,
  });

  const first = [...sampleSeries(seed, companies, 0)];
  for (const { document } of first) put(document);
  for (const _ of first) series.next();
  const served = await (options.serve ?? serveEmulator)(handle, options);
  const emulator: RegisterEmulator = {
    ...served,
    documents,
    settings: { source: 'cvr', baseUrl: served.url, username: user, password },
    put: (document, loadedAt) => put(loadedAt === undefined ? document : loadedAs(document, loadedAt)),
    change(loadedAt = Date.now()) {
      const document = loadedAs(series.next().value?.document, loadedAt);
      put(document);
      return document;
    },
    disturb: undefined,
    partial: undefined,
  };
  return emulator;
}

function loadedAs(document: unknown, loadedAt: number): RegisterHit {
  const [[type, unit] = []] = isJsonObject(document) ? Object.entries(document) : [];
  if (type === undefined || !isJsonObject(unit)) throw new Error('not a document of the register');
  return { [type]: { ...unit, sidstIndlaest: new Date(loadedAt).toISOString() } };
}

const SHARDS = { total: 6, successful: 6, skipped: 0, failed: 0 };
const EARLY = { terminated_early: true };

/** Whether an answer lacks a document, by the document's key and its place in the index. */
const LACKING = {
  nothing: () => false,
  shard: (key: string) => Number(key) % SHARDS.total === 0,
  early: (_: string, place: number) => place >= SHARDS.total,
} as const;

const refusal = ({ status, message }: QueryRefusal): EmulatorAnswer => {
  const [type, reason = message] = message.split(': ', 2);
  return { status, body: { error: { root_cause: [{ type, reason }], type, reason }, status } };
};
