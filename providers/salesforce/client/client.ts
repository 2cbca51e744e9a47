/** The calls through jsforce, each under the current session, which is renewed once if Salesforce refuses it. */
import type { Connection } from 'jsforce/lib/connection.js';
import type { HttpResponse, ProviderContext } from '../../provider.ts';
import { SalesforceRefusal, sessionFault, unexpectedAnswer } from './errors.ts';
import { objectOf, objectsOf, textOf } from './json.ts';
import { openLogin } from './login.ts';
import type { SalesforceSettings } from './salesforce-settings.ts';
import { openSessions, type Session } from './session.ts';
import { guardedTransport } from './transport.ts';
import { type AccountRow, readUpdate, type UpdateAnswer, updateCall, type WriteRow } from './update-call.ts';

/** Runs one verb with the calls for its signal; a refusal left over becomes a fault of the connection. */
export type HttpVerb = <T>(signal: AbortSignal, work: (calls: Calls) => Promise<T>) => Promise<T>;

export type QueryScope = 'live' | 'all' | 'tooling';

/** The calls for one verb, bound to its signal. Each throws {@link SalesforceRefusal} for a refusal, except for a 401. */
export interface Calls {
  describe(): Promise<readonly AccountRow[]>;
  /** An object as the user may use it: `createable`, `updateable`, `fields`. */
  describeObject(name: string): Promise<AccountRow>;
  /** Reads up to 200 records; missing ones are left out. */
  retrieve(ids: readonly string[], fields: readonly string[]): Promise<readonly AccountRow[]>;
  /** Updates up to 200 records, and reads these fields of them right before and after, in one call. */
  update(rows: readonly WriteRow[], fields: readonly string[]): Promise<UpdateAnswer>;
  /** Reads the first page only; `all` includes deleted records, `tooling` queries the org's metadata. */
  query(soql: string, scope?: QueryScope): Promise<{ readonly rows: readonly AccountRow[]; readonly done: boolean }>;
  /** Posts to a path below the API's version; not safe to repeat. */
  post(path: string, body: object): Promise<AccountRow>;
  /** Deletes the resource at a path below the API's version. */
  remove(path: string): Promise<void>;
  /** Creates one record and returns its id; an answer without an id is `unavailable`. */
  create(path: string, record: object): Promise<string>;
  /** The path of the API's version, for the inner calls of a composite call. */
  readonly base: string;
  /** Salesforce's own time in ms, from the last answer. */
  serverTime(): number | undefined;
  /** Calls used and allowed in 24 hours, if the last answer stated them. */
  usage(): { readonly used: number; readonly limit: number } | undefined;
  session(): Promise<Session>;
}

const QUERY_PATHS: Readonly<Record<QueryScope, string>> = {
  live: '/query',
  all: '/queryAll',
  tooling: '/tooling/query',
};

/** Without Sforce-Auto-Assign an address update may run assignment rules and change the owner. */
const WRITE_HEADERS = { 'Sforce-Auto-Assign': 'FALSE' };

/** Loads jsforce (about 150 ms); a jsforce connection for each call costs about 12 µs. */
export async function loadClient(
  settings: SalesforceSettings,
  context: ProviderContext,
): Promise<(signal: AbortSignal) => Calls> {
  // jsforce is CommonJS: its deep files avoid loading the APIs that are not used.
  const { Connection } = await import('jsforce/lib/connection.js');
  const { OAuth2 } = await import('jsforce/lib/oauth2.js');
  const client = await import('jsforce/lib/util/promise.js');
  const { auth, loginUrl, apiVersion: version } = settings;

  const clientSecret = auth.flow === 'jwt-bearer' ? undefined : auth.clientSecret;
  const oauth2 = new OAuth2({
    loginUrl,
    clientId: auth.clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
  });
  // Token requests do not count as API calls, and must not wait behind them.
  oauth2._transport = guardedTransport(client, context, new AbortController().signal, { budget: 'none' });
  const sessions = openSessions(openLogin(settings, context, oauth2), context.now);

  /** No refresh function: jsforce would refresh without end. */
  const open: OpenConnection = ({ instanceUrl, accessToken }, signal, onAnswer) => {
    const connection = new Connection({ instanceUrl, accessToken, version, logLevel: 'NONE' });
    connection._transport = guardedTransport(client, context, signal, { onAnswer });
    return connection;
  };
  return (signal) => callsOver(openLine(sessions, open, signal), settings);
}

type OpenConnection = (session: Session, signal: AbortSignal, onAnswer: (answer: HttpResponse) => void) => Connection;

/** The calls of one verb under the current session, and the headers of their answers. */
interface Line extends Pick<Calls, 'serverTime' | 'usage' | 'session'> {
  /** Runs one call, and runs it again under a new session if Salesforce refuses the current one. */
  call<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
}

function openLine(sessions: ReturnType<typeof openSessions>, open: OpenConnection, signal: AbortSignal): Line {
  let last: Connection | undefined;
  let date: string | undefined;
  const connect = (session: Session): Connection => {
    last = open(session, signal, ({ headers }) => {
      date = headers.date ?? date;
    });
    return last;
  };
  return {
    async call(work) {
      signal.throwIfAborted();
      const session = await sessions.current(signal);
      try {
        return await work(connect(session));
      } catch (error) {
        if (!isSessionRefused(error)) throw error;
      }
      const renewed = await sessions.renew(session, signal);
      try {
        return await work(connect(renewed));
      } catch (error) {
        throw isSessionRefused(error) ? sessionFault(error) : error;
      }
    },
    serverTime() {
      const ms = Date.parse(date ?? '');
      return Number.isNaN(ms) ? undefined : ms;
    },
    usage: () => last?.limitInfo.apiUsage,
    session: () => sessions.current(signal),
  };
}

function callsOver(line: Line, { object, apiVersion, allowDuplicates }: SalesforceSettings): Calls {
  const { call, serverTime, usage, session } = line;
  const base = `/services/data/v${apiVersion}`;
  const duplicates = allowDuplicates ? { 'Sforce-Duplicate-Rule-Header': 'allowSave=true' } : {};
  const headers = { ...WRITE_HEADERS, ...duplicates };
  const post = async (path: string, json: object): Promise<AccountRow> => {
    const request = {
      method: 'POST' as const,
      url: path,
      body: JSON.stringify(json),
      headers: { 'content-type': 'application/json', ...WRITE_HEADERS },
    };
    const answer = objectOf(await call((connection) => connection.request<unknown>(request)));
    if (answer === undefined) throw unexpectedAnswer('a creation');
    return answer;
  };
  const describeObject = async (name: string): Promise<AccountRow> => {
    const described = objectOf(await call((connection) => connection.describe(name)));
    if (!Array.isArray(described?.fields)) throw unexpectedAnswer('a describe');
    return described;
  };
  return {
    describe: async () => objectsOf((await describeObject(object)).fields),
    describeObject,
    async retrieve(ids, fields) {
      const rows: unknown = await call((connection) => connection.retrieve(object, [...ids], { fields: [...fields] }));
      if (!Array.isArray(rows)) throw unexpectedAnswer('a read');
      return objectsOf(rows);
    },
    update: async (rows, fields) =>
      readUpdate(await post('/composite', updateCall({ object, base, headers }, rows, fields))),
    async query(soql, scope = 'live') {
      const path = `${QUERY_PATHS[scope]}?q=${encodeURIComponent(soql)}`;
      // Not jsforce's query(): it silently drops rows over 10,000 and breaks on an answer without rows.
      const { records, done } = objectOf(await call((connection) => connection.request<unknown>(path))) ?? {};
      const rows = objectsOf(records);
      // A dropped row would look like a missing record.
      if (!Array.isArray(records) || rows.length < records.length) throw unexpectedAnswer('a query');
      return { rows, done: done !== false };
    },
    post,
    async create(path, record) {
      const { id, success } = await post(path, record);
      const made = textOf(id);
      if (success !== true || made === undefined) throw unexpectedAnswer('a creation');
      return made;
    },
    async remove(path) {
      await call((connection) => connection.request<unknown>({ method: 'DELETE', url: path }));
    },
    base,
    serverTime,
    usage,
    session,
  };
}

const isSessionRefused = (error: unknown): boolean => error instanceof SalesforceRefusal && error.status === 401;
