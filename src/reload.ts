/** A configuration that is read again while the daemon runs: what of it counts at once, and what needs a restart. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Config, ConfiguredProvider } from './config/load.ts';
import { redact } from './config/redact.ts';

/** What became of a configuration that was read again; both name keys, and no values. */
export interface Reloaded {
  readonly changed: readonly string[];
  readonly needsRestart: readonly string[];
}

/** The configuration in force, with all of another one that counts without a restart. */
export function withReloaded(inForce: Config, read: Config): Config {
  const { logLevel: _, connector, ...rest } = inForce;
  return {
    ...rest,
    ...(read.logLevel !== undefined && { logLevel: read.logLevel }),
    ...(connector !== undefined && { connector: reloadedConnector(inForce, connector, read) }),
  };
}

function reloadedConnector({ service }: Config, own: NonNullable<Config['connector']>, read: Config) {
  const { webhook, providers, upstream } = own;
  // Our own service has the secret since it started.
  const isOwnSender = service !== undefined && upstream === undefined;
  const { auth } = (isOwnSender ? undefined : read.connector?.webhook) ?? webhook;
  const named = (name: string) => read.connector?.providers.find((each) => each.name === name);
  return {
    ...own,
    webhook: { ...webhook, auth },
    providers: providers.map((each) => reloadedProvider(each, named(each.name))),
  };
}

/** A connection with the rules and the secrets of another file; its other settings stay. */
function reloadedProvider(own: ConfiguredProvider, read: ConfiguredProvider | undefined): ConfiguredProvider {
  if (read === undefined || read.provider.name !== own.provider.name) return own;
  const { policy, mapping, values, hold, only, persons, currency, dashboard } = read;
  const shown = ({ provider, settings }: ConfiguredProvider): unknown => redact(provider.settings, settings);
  const { settings, mask } = isDeepStrictEqual(shown(own), shown(read)) ? read : own;
  return {
    ...own,
    ...{ policy, mapping, values, hold, only, persons, currency, dashboard, settings },
    ...(mask !== undefined && { mask }),
  };
}

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
