/**
 * Digests of the configuration, part by part: daemons on one store compare them, and report the parts that differ.
 * Leaves out what may differ between hosts: listeners, limits, the store's address.
 */
import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { plainRow } from '../../providers/provider.ts';
import { authSchema } from '../protocol/auth.ts';
import { digestOf } from '../protocol/text/digest.ts';
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

/** The newest digests by secrets and salt: scrypt takes long by design, and a reload rarely changes secrets. */
const digested = new Map<string, Promise<string>>();
const MOST_DIGESTED = 16;

/** `salt` is the store's. scrypt prevents anybody from guessing a secret by its digest. */
export async function configDigests(config: Config, salt: string): Promise<ConfigDigests> {
  const halves = Object.entries(halvesOf(config));
  return Object.fromEntries(
    await Promise.all(halves.map(async ([name, half]) => [name, await digest(half, salt)] as const)),
  );
}

export const configContent = (config: Config): Readonly<Record<string, Readonly<Record<string, unknown>>>> =>
  Object.fromEntries(Object.entries(halvesOf(config)).map(([name, { parts }]) => [name, parts]));

function halvesOf(config: Config): Readonly<Record<string, Half>> {
  const { connector, service } = config;
  const shared = { beneficialOwners: allowsBeneficialOwners(config) };
  const halves: Record<string, Half> = {};
  if (connector !== undefined) halves['connector'] = withParts(connectorHalf(connector), shared);
  if (service !== undefined) halves['service'] = withParts(serviceHalf(service), shared);
  for (const key of SECTIONS)
    if (config[key] !== undefined) halves[key] = halfOf(configSchema.properties[key], config[key]);
  return halves;
}

const withParts = ({ parts, secrets }: Half, more: object): Half => ({ parts: { ...parts, ...more }, secrets });

/** The sections that concern the whole installation. */
const SECTIONS = ['alerts', 'backup', 'retention', 'telemetry'] as const;

function connectorHalf({ webhook, upstream, providers, emailEvent }: ConnectorConfig): Half {
  // The presence of `upstream` says who reports changes to the connector: see dropExpired.
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
    match,
    mapping,
    values,
    hold,
    only,
    persons,
    currency,
    dashboard,
    ...rest
  } of providers) {
    const own = split(provider.settings, settings);
    secrets.push(...own.secrets);
    const rows = mapping.map(plainRow);
    parts[mappingPart(name)] = { match, mapping: rows, values, hold, only, persons, currency, dashboard };
    parts[`providers.${name}`] = { ...rest, use: provider.name, settings: own.open };
  }
  return { parts, secrets };
}

const serviceHalf = ({ leaseSeconds: _, ...service }: NonNullable<Config['service']>): Half =>
  halfOf(serviceSchema, service);

function halfOf(schema: TSchema, section: object): Half {
  const { open, secrets } = split(schema, section);
  return { parts: { ...open }, secrets };
}

const WEBHOOK = Type.Object({ auth: Type.Array(authSchema) });
const UPSTREAM = configSchema.properties.connector.properties.upstream;

const split = <V extends object>(schema: TSchema, value: V) => ({
  open: Object(redact(schema, value)),
  secrets: [...collectSecrets(schema, value)],
});

async function digest({ parts, secrets }: Half, salt: string): Promise<Record<string, string>> {
  const digests = Object.entries(parts).map(([name, part]) => [name, digestOf(part)] as const);
  if (secrets.length === 0) return Object.fromEntries(digests);
  return { ...Object.fromEntries(digests), [CREDENTIALS]: await digestOfSecrets(secrets, salt) };
}

function digestOfSecrets(secrets: readonly string[], salt: string): Promise<string> {
  const text = JSON.stringify(secrets.toSorted());
  const key = `${salt} ${text}`;
  const digest = digested.get(key) ?? slowDigest(text, salt);
  digested.delete(key);
  digested.set(key, digest);
  const [oldest] = digested.keys();
  if (digested.size > MOST_DIGESTED && oldest !== undefined) digested.delete(oldest);
  return digest;
}

async function slowDigest(text: string, salt: string): Promise<string> {
  const key = await promisify<string, string, number, Buffer>(scrypt)(text, salt, 32);
  return key.toString('base64url');
}
