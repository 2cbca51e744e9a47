/** Emulates the company register at Datafordeler, for tests and `cvrsync emulate datafordeler`; as strict as the original. */
import {
  type EmulatorAnswer,
  type EmulatorRequest,
  type ScriptedFault,
  type ServedEmulator,
  serveEmulator,
} from '../../../../providers/kit/emulator/emulator.ts';
import { sampleSeries } from '../sample/stream.ts';
import { type AnswerControls, createAnswers } from './answers.ts';
import { type FileEmulator, serveFiles } from './files.ts';
import { translated } from './from-document.ts';
import { schemaText, TABLES } from './schema.ts';
import { createTables, type DafTableRow, type DafTables } from './tables.ts';

export interface DatafordelerEmulatorOptions {
  /** 0 picks a free port. */
  readonly port?: number;
  readonly seed?: number;
  /** The number of sample companies at the start; 10 by default. */
  readonly companies?: number;
  readonly faults?: readonly ScriptedFault[];
  readonly apiKey?: string;
  /** How long a search without a day takes, if its filter is not a number; 16,000 by default, as in the original. */
  readonly slowMs?: number;
  readonly now?: () => number;
}

export interface DatafordelerEmulator extends ServedEmulator, AnswerControls {
  /** Settings of `service.register` that reach the emulator. */
  readonly settings: {
    readonly source: 'datafordeler';
    readonly graphqlUrl: string;
    readonly filesUrl: string;
    readonly apiKey: string;
  };
  /** The weekly files, with the state at their publication. */
  readonly files: FileEmulator;
  /** Publishes files of the state now, or of another time. */
  publishFiles(at?: number): void;
  /** The client and token endpoint that can replace the key. */
  readonly oauth: { readonly clientId: string; readonly clientSecret: string };
  readonly tokenUrl: string;
  readonly tables: DafTables;
  /** The bodies of all requests so far, at most the newest 10,000. */
  readonly questions: readonly string[];
  /** Registers a register document, now or at another time. */
  put(document: unknown, at?: number): void;
  /** Changes one of the sample companies, and returns its document. */
  change(at?: number): unknown;
}

/** Not an ordinary word, because cvrsync masks it in all output of a configuration with it. */
const API_KEY = 'emulated-datafordeler-key';
const CLIENT = { clientId: 'cvrsync', clientSecret: 'emulated-datafordeler-secret' };

const GRAPHQL = '/CVR/v2';
const TOKENS = '/realms/distribution/protocol/openid-connect/token';
const ENDLESS = 10_000_000;
const MOST_QUESTIONS = 10_000;

export async function serveDatafordeler(options: DatafordelerEmulatorOptions = {}): Promise<DatafordelerEmulator> {
  const { seed = 1, companies = 10, apiKey = API_KEY, now = Date.now } = options;
  const tables = createTables(seed);
  const series = sampleSeries(seed, companies, ENDLESS);
  const tokens = new Set<string>();
  const questions: string[] = [];
  const controls: AnswerControls = {
    mark: undefined,
    hidden: new Set(),
    silent: new Set(),
    lost: new Set(),
    feed: undefined,
  };
  const answerTo = createAnswers({ tables, controls, slowMs: options.slowMs ?? 16_000, now });
  function isKnown({ url, headers }: Pick<EmulatorRequest, 'url' | 'headers'>): boolean {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    return url.searchParams.get('apiKey') === apiKey || (token !== undefined && tokens.has(token));
  }

  function giveToken(body: string): EmulatorAnswer {
    const asked = new URLSearchParams(body);
    const { clientId, clientSecret } = CLIENT;
    if (asked.get('client_id') !== clientId || asked.get('client_secret') !== clientSecret)
      return { status: 401, body: { error: 'unauthorized_client' } };
    const token = `emulated-token-${tokens.size + 1}`;
    tokens.add(token);
    return { status: 200, body: { access_token: token, expires_in: 300, token_type: 'Bearer' } };
  }

  async function handle(request: EmulatorRequest): Promise<EmulatorAnswer> {
    const { method, url, body } = request;
    if (url.pathname === TOKENS && method === 'POST') return giveToken(body);
    if (url.pathname === `${GRAPHQL}/schema`) return { status: 200, body: schemaText(controls.lost) };
    // Since June 2026 the first version answers 404 without a body.
    if (url.pathname !== GRAPHQL || method !== 'POST') return { status: 404 };
    if (!isKnown(request)) return { status: 401, body: '' };
    if (questions.push(body) > MOST_QUESTIONS) questions.shift();
    return { status: 200, body: await answerTo(body) };
  }

  function put(document: unknown, at = now()): void {
    for (const { id, rows, isPart } of translated(document)) {
      const before = isPart ? knownOf(tables, id) : {};
      const after = { ...before, ...rows };
      if (!isPart || contentOf(before) !== contentOf(after)) tables.put(id, after, at);
    }
  }

  const served = await serveEmulator(handle, { ...options, now });
  const files = await serveFiles({ isKnown: (url, headers) => isKnown({ url, headers }), now });
  const emulator: DatafordelerEmulator = Object.assign(controls, served, {
    settings: { source: 'datafordeler' as const, graphqlUrl: served.url, filesUrl: files.url, apiKey },
    files,
    publishFiles: (at = now()) => files.publish(tables.rowsOf, at),
    async close() {
      await files.close();
      await served.close();
    },
    oauth: CLIENT,
    tokenUrl: `${served.url}${TOKENS}`,
    tables,
    questions,
    put,
    change(at?: number) {
      const document = series.next().value?.document;
      put(document, at);
      return document;
    },
  });
  const first = [...sampleSeries(seed, companies, 0)];
  for (const { document } of first) put(document);
  for (const _ of first) series.next();
  emulator.publishFiles();
  return emulator;
}

const knownOf = (tables: DafTables, id: string): Readonly<Record<string, readonly DafTableRow[]>> =>
  Object.fromEntries(
    Object.keys(TABLES).flatMap((entity) => {
      const rows = tables.unit(entity, id);
      return rows.length === 0 ? [] : [[entity, rows]];
    }),
  );

/** The content of rows, without the values of their registration. */
const contentOf = (tables: Readonly<Partial<Record<string, readonly DafTableRow[]>>>): string =>
  JSON.stringify(
    Object.entries(tables)
      .filter(([, rows = []]) => rows.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([entity, rows = []]) => [
        entity,
        rows.map(
          ({
            datafordelerRowId: _,
            datafordelerRegisterImportSequenceNumber: __,
            datafordelerOpdateringstid: ___,
            registreringFra: ____,
            ...content
          }) => content,
        ),
      ]),
  );
