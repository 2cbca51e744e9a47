/** The lab of one rule: a fresh CRM with four companies, and a connection to it. */
import { Value } from 'typebox/value';
import { connectionMisfit, limitsMisfit } from '../../../contract-schemas.ts';
import type {
  Connection,
  HttpRequest,
  Limits,
  Outcome,
  Page,
  PropertyValue,
  Provider,
  ProviderContext,
  Read,
} from '../../../provider.ts';
import type { FaultAction } from '../../emulator/emulator.ts';
import { openTestHttp, type TestHttp } from './http.ts';
import { brief, insist, insistFits, insistList } from './insist.ts';
import type { FakeCrm, Subject } from './subject.ts';
import { addCompany, startFake, WrongSubject } from './whole-subject.ts';

export interface Lab {
  readonly subject: Subject;
  readonly fake: FakeCrm;
  readonly connection: Connection;
  readonly limits: Limits;
  readonly settings: Readonly<Record<string, unknown>>;
  /** How long to wait for a lagging index, in ms. */
  readonly patienceMs: number;
  readonly text: string;
  /** The companies: Birk, Ege, Lind, Pil; or as many of them as a batch of the provider takes. */
  readonly ids: readonly string[];
  calls(): number;
  readonly requests: readonly HttpRequest[];
  isCall(call: keyof Subject['calls'], request: HttpRequest): boolean;
  readonly meet: TestHttp['meet'];
  /**
   * The number of calls after the first `after`, from the first one that reads, or updates, records: a fault of {@link
   * Lab.fault} struck it.
   */
  callsFrom(call: 'read' | 'update', after: number): number;
  /** Advances the connection's clock by ms, so that periodic calls are due. */
  later(ms: number): void;
  add(text: string): string;
  held(id: string, property?: string): PropertyValue | undefined;
  read(ids: readonly string[], properties?: readonly string[], signal?: AbortSignal): Promise<readonly Read[]>;
  write(
    ids: readonly string[],
    properties: Readonly<Record<string, PropertyValue>>,
    signal?: AbortSignal,
  ): Promise<readonly Outcome[]>;
  /** Every record of a scan, in order; ends if a cursor repeats. */
  scan(properties?: readonly string[]): Promise<Page['records']>;
  /** Strikes the next call that reads or writes records; the lab shortens the wait for one that hangs. */
  fault(call: 'read' | 'update', action: FaultAction): void;
  /** Removes a record from the lists in the answers to updates; the returned function says whether one contained it. */
  leaveOut(id: string): () => boolean;
}

/** For an answer that never comes. */
const HANG_MS = 400;
const PATIENCE = 12;
const NAMES = ['Birk', 'Ege', 'Lind', 'Pil'];
const MOST_PAGES = 1_000;

/** A call in the form that the patterns of a subject match. */
export const lineOf = ({ method, url }: HttpRequest): string => `${method} ${new URL(url).pathname}`;

export const live = (): AbortSignal => new AbortController().signal;

/** The settings with defaults, as from a configuration; throws {@link WrongSubject} if they do not fit the schema. */
export function settingsOf(provider: Provider, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const filled = Value.Default(provider.settings, structuredClone(given));
  const [error] = Value.Errors(provider.settings, filled);
  if (error !== undefined)
    throw new WrongSubject(
      `the settings of the fake do not fit the schema: ${error.instancePath || 'all'} ${error.message}`,
    );
  return Object.fromEntries(Object.entries(filled ?? {}));
}

/** Runs `work` in a new lab, then closes the lab. */
export async function inLab<T>(subject: Subject, work: (lab: Lab) => Promise<T>): Promise<T> {
  const fake = await startFake(subject);
  try {
    return await work(await openLab(subject, fake));
  } finally {
    await fake.close();
  }
}

async function openLab(subject: Subject, fake: FakeCrm): Promise<Lab> {
  const { provider } = subject;
  const { text } = subject.properties;
  const hangMs = subject.hangMs ?? HANG_MS;
  const settings = settingsOf(provider, fake.settings);
  const { http, requests, hurry, alter, meet } = openTestHttp();
  const kept = new Map<string, string>();
  const keep = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: string) => void kept.set(key, value),
  };
  const isCall: Lab['isCall'] = (call, request) => {
    const pattern = subject.calls[call];
    return pattern !== undefined && new RegExp(pattern).test(lineOf(request));
  };
  let ahead = 0;
  const { connection, limits } = await open(provider, settings, { http, keep, now: () => Date.now() + ahead });
  const most = Math.max(1, Math.min(NAMES.length, limits.batch.read, limits.batch.update));
  const add = (name: string) => addCompany(subject, fake, name);
  const ids = NAMES.slice(0, most).map(add);
  // One-time calls of a connection should not count in any rule.
  await connection.properties(live());
  return {
    subject,
    fake,
    connection,
    limits,
    settings,
    patienceMs: PATIENCE * hangMs,
    text,
    ids,
    calls: () => requests.length,
    requests,
    isCall,
    meet,
    callsFrom(call, after) {
      const since = requests.slice(after);
      const first = since.findIndex((request) => isCall(call, request));
      return since.length - Math.max(0, first);
    },
    later: (ms) => {
      ahead += ms;
    },
    add,
    held: (id, property = text) => fake.get(id)?.[property],
    read: async (asked, properties = [text], signal = live()) =>
      insistList(await connection.read(asked, properties, signal), 'a read'),
    write: async (asked, properties, signal = live()) => {
      const patches = asked.map((id) => ({ id, properties }));
      return insistList(await connection.update(patches, signal), 'an update');
    },
    scan: (properties = [text]) => scanAll(connection, properties),
    fault(call, action) {
      fake.fault({ match: subject.calls[call], action });
      if (action.kind === 'hang') hurry(hangMs);
    },
    leaveOut: (id) => leaveOut((change) => alter(subject.calls.update, change), id),
  };
}

export class NoConnection extends Error {
  override readonly name = 'NoConnection';
}

/** A connection with everything that the rules call; throws {@link NoConnection} if it does not open. */
async function open(
  provider: Provider,
  settings: Readonly<Record<string, unknown>>,
  context: ProviderContext,
): Promise<Pick<Lab, 'connection' | 'limits'>> {
  try {
    const limits = provider.limits(settings);
    insistFits(limitsMisfit(limits), 'limits');
    const connection = await provider.connect(settings, context);
    insistFits(connectionMisfit(connection), 'connect');
    return { connection, limits };
  } catch (error) {
    throw new NoConnection('no connection could be opened', { cause: error });
  }
}

async function scanAll(connection: Connection, properties: readonly string[]): Promise<Page['records']> {
  const seen: Page['records'][number][] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await connection.scan(properties, cursor, live());
    seen.push(...insistList(page.records, 'a scan'));
    cursor = cursorOf(page);
    insist(
      cursor === undefined || !cursors.has(cursor),
      `a scan gave the cursor ${cursor} twice, after ${cursors.size} pages and ${seen.length} records`,
    );
    insist(cursors.size <= MOST_PAGES, `a scan did not end after ${MOST_PAGES} pages`);
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return seen;
}

/** Removes a record from answers on their way; the returned function says whether one contained it. */
function leaveOut(alter: (change: (body: string) => string) => void, id: string): () => boolean {
  let isLeftOut = false;
  alter((body) => {
    const rest = withoutRecord(body, id);
    isLeftOut ||= rest !== undefined;
    return rest ?? body;
  });
  return () => isLeftOut;
}

/** The JSON without the list members that name the record; undefined if none does. */
function withoutRecord(body: string, id: string): string | undefined {
  let isLeftOut = false;
  const names = (value: unknown): boolean =>
    typeof value === 'object' && value !== null
      ? Object.values(value).some((each) => names(each))
      : String(value) === id;
  const cut = (_key: string, value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    const rest = value.filter((each) => typeof each !== 'object' || !names(each));
    isLeftOut ||= rest.length < value.length;
    return rest;
  };
  try {
    const json = JSON.stringify(JSON.parse(body, cut));
    return isLeftOut ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The cursor of a page; fails if it is not a text. */
export function cursorOf({ cursor }: Page): string | undefined {
  const isCursor = cursor === undefined || (typeof cursor === 'string' && cursor !== '');
  insist(isCursor, `a scan gave the cursor ${brief(cursor)}: it is a text, and absent on the last page`);
  return cursor;
}

/** The result of one record, at any position: another rule checks the order. */
export const of = <T extends { readonly id: string }>(all: readonly T[], id: string | undefined): T | undefined =>
  all.find((each) => each.id === id);
