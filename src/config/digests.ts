/**
 * Digests of a configuration, part by part: two daemons on one store compare them, and report the parts that differ.
 * They leave out what may differ between hosts: listeners, limits, the address of the store.
 */
import { createHash, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { authSchema } from '../protocol/auth.ts';
import type { Config, ConnectorConfig } from './load.ts';
import { allowsBeneficialOwners } from './load.ts';
import { collectSecrets, redact } from './redact.ts';
import { configSchema } from './schema/schema.ts';
import { service as serviceSchema } from './schema/service.ts';

export type ConfigDigests = Readonly<Record<string, Readonly<Record<string, string>>>>;

const mappingPart = (provider: string): string => `providers.${provider}.mapping`;

/** The part with every secret of a half. */
const CREDENTIALS = 'credentials';

interface Half {
  /** Without secrets. */
  readonly parts: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
}

/** A configuration does not change while a process has it, and scrypt takes long by design. */
const digested = new WeakMap<Config, { readonly salt: string; readonly digests: Promise<ConfigDigests> }>();

/** The digests; `salt` is the store's. scrypt prevents anybody from guessing a secret by its digest. */
export function configDigests(config: Config, salt: string): Promise<ConfigDigests> {
  const known = digested.get(config);
  if (known?.salt === salt) return known.digests;
  const digests = digestsOf(config, salt);
  digested.set(config, { salt, digests });
  return digests;
}

async function digestsOf(config: Config, salt: string): Promise<ConfigDigests> {
  const { connector, service } = config;
  const shared = { beneficialOwners: allowsBeneficialOwners(config) };
  const halves: Readonly<Record<string, Half | undefined>> = {
    connector: connector && withParts(connectorHalf(connector), shared),
    service: service && withParts(serviceHalf(service), shared),
  };
  const digests: Record<string, Readonly<Record<string, string>>> = {};
  for (const [name, half] of Object.entries(halves)) if (half !== undefined) digests[name] = await digest(half, salt);
  return digests;
}

const withParts = ({ parts, secrets }: Half, more: object): Half => ({ parts: { ...parts, ...more }, secrets });

function connectorHalf({ webhook, upstream, providers, emailEvent }: ConnectorConfig): Half {
  // Whether `upstream` is present says who reports changes to the connector: see dropExpired.
  const part = split(Type.Object({ webhook: WEBHOOK, upstream: UPSTREAM }), {
    webhook,
    ...(upstream !== undefined && { upstream }),
  });
  const secrets = [...part.secrets];
  const parts: Record<string, unknown> = { ...part.open, emailEvent };
  for (const {
    name,
    provider,
    settings,
    mask: _,
    mapping,
    values,
    hold,
    persons,
    currency,
    dashboard,
    ...rest
  } of providers) {
    const own = split(provider.settings, settings);
    secrets.push(...own.secrets);
    parts[mappingPart(name)] = { mapping, values, hold, persons, currency, dashboard };
    parts[`providers.${name}`] = { ...rest, use: provider.name, settings: own.open };
  }
  return { parts, secrets };
}

function serviceHalf({ leaseSeconds: _, ...service }: NonNullable<Config['service']>): Half {
  const { open, secrets } = split(serviceSchema, service);
  return { parts: { ...open }, secrets };
}

const WEBHOOK = Type.Object({ auth: Type.Array(authSchema) });
const UPSTREAM = configSchema.properties.connector.properties.upstream;

const split = <V extends object>(schema: TSchema, value: V) => ({
  open: Object(redact(schema, value)),
  secrets: [...collectSecrets(schema, value)],
});

async function digest({ parts, secrets }: Half, salt: string): Promise<Record<string, string>> {
  const digests = Object.entries(parts).map(([name, part]) => [name, hash(canonical(part))] as const);
  const key = await promisify<string, string, number, Buffer>(scrypt)(JSON.stringify(secrets.toSorted()), salt, 32);
  return { ...Object.fromEntries(digests), [CREDENTIALS]: key.toString('base64url') };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** JSON with its keys in order, so that the order in the file does not count. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  ) ?? '';
