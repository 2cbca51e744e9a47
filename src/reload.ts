/** A configuration that is read again while the daemon runs: what of it counts at once, and what needs a restart. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config/load.ts';

/** What became of a configuration that was read again; both name keys, and no values. */
export interface Reloaded {
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
}

/** What belongs to the process besides its addresses: its store, its part of the work, where its traces go. */
const OF_PROCESS = ['store', 'storeConnections', 'roles', 'telemetry'] as const;

/** Whether only a restart changes a key. */
export const isOfProcess = (key: string): boolean =>
  /^(?:server|admin)\.(?:host|port)$/u.test(key) ||
  OF_PROCESS.some((part) => key === part || key.startsWith(`${part}.`));

/** A configuration that was read, with what belongs to the process as the one in force has it. */
export function withProcess(inForce: Config, { telemetry: _, ...read }: Config): Config {
  const { store, storeConnections, roles, telemetry } = inForce;
  const server = { ...read.server, host: inForce.server.host, port: inForce.server.port };
  const admin = { ...read.admin, host: inForce.admin.host, port: inForce.admin.port };
  return { ...read, server, admin, store, storeConnections, roles, ...(telemetry !== undefined && { telemetry }) };
}

/** Takes up configurations one after the other. Each is read when its turn comes: an earlier turn may have replaced it. */
export function openTurns<C, R>(takeUp: (next: C) => Promise<R>) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(read: () => C): Promise<R> {
      const taken = last.then(() => takeUp(read()));
      last = taken.catch(() => undefined);
      return taken;
    },
    ended: () => last,
  };
}

/** What counts in the parts that run: rules are followed in the store, and the log has its level. */
const FOLLOWED =
  /^(?:logLevel|connector\.providers\.[\w-]+\.(?:match|policy|mapping|values|hold|only|persons|currency|dashboard))$/u;

/** Whether other parts have to be started for these keys. */
export const needsNewParts = (changed: readonly string[]): boolean => changed.some((key) => !FOLLOWED.test(key));

/** The keys in which two configurations differ, `server.port`; below a connection by one more. */
export function differingKeys(one: Config, other: Config): readonly string[] {
  return [...keysBetween(one, other, '')].toSorted();
}

function keysBetween(one: unknown, other: unknown, path: string): readonly string[] {
  const [mine, theirs] = [partsOf(one), partsOf(other)];
  if (mine === undefined || theirs === undefined || path.split('.').length > DEPTH)
    return isDeepStrictEqual(plain(one), plain(other)) ? [] : [path];
  const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  return [...keys].flatMap((key) => keysBetween(mine[key], theirs[key], path === '' ? key : `${path}.${key}`));
}

/** So deep a key is named: `connector.providers.hubspot.settings`. */
const DEPTH = 3;

/** The parts of a section; connections by their names. Undefined for a value. */
function partsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (Array.isArray(value)) {
    const entries = value.map((each): [unknown, unknown] => [Object(each).name, each]);
    return value.length > 0 && entries.every(([name]) => typeof name === 'string')
      ? Object.fromEntries(entries)
      : undefined;
  }
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

/** Without functions and programs: a provider is the same under the same name. */
const plain = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (key, each) => (key === 'provider' ? Object(each).name : each)) ?? 'null');
