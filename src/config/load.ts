/** Turns a parsed configuration into everything that the daemon needs, or into the list of its errors. */
import { dirname } from 'node:path';
import Type, { type Static, type TObject } from 'typebox';
import { Value } from 'typebox/value';
import { type FieldName, isFieldName } from '../../providers/fields.ts';
import type { Policy, PropertyValue, Provider } from '../../providers/provider.ts';
import type { Auth } from '../protocol/auth.ts';
import { type EventName, isEventName } from '../protocol/events.ts';
import { eventNamed, type WireOptions } from '../protocol/payload.ts';
import { maskerOf } from '../protocol/text/mask.ts';
import { DANISH_ZONE, isTimeZone } from '../protocol/text/zone-clock.ts';
import type { LocatedProblem } from './locate.ts';
import {
  type MappingRow,
  reportBeneficialOwners,
  reportNeverWhole,
  reportNumber,
  reportPersons,
  resolveMapping,
} from './mapping.ts';
import { entrySchema, loadProvider } from './plugins/plugin.ts';
import { collectSecrets } from './redact.ts';
import { type AlertsConfig, resolveAlerts } from './schema/alerts.ts';
import { reportBackup } from './schema/backup.ts';
import { type ConfigProblem, fill } from './schema/fill.ts';
import { didYouMean } from './schema/nearest.ts';
import { reportRegister } from './schema/register.ts';
import { reportRoles } from './schema/roles.ts';
import { configSchema, connectionSchema } from './schema/schema.ts';
import { reportStore } from './schema/store-address.ts';
import { type Env, readerIn, substitute } from './variables.ts';

type File = Static<typeof configSchema>;
type FileConnector = NonNullable<File['connector']>;

/** One entry of `connector.providers`, ready to connect. */
export interface ConfiguredProvider {
  /** The {Provider} segment of the service's paths. */
  readonly name: string;
  readonly provider: Provider<TObject>;
  /** Satisfies the provider's settings schema, with defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly mask?: (text: string) => string;
  /** The property that holds the CVR number. */
  readonly match: string | undefined;
  /** The properties that match records without a number, instead of the mapped ones. */
  readonly matchTexts?: MatchTexts | undefined;
  /** `tracked` by default. */
  readonly policy: Policy;
  readonly mapping: readonly MappingRow[];
  readonly values: Readonly<Partial<Record<FieldName, Readonly<Record<string, PropertyValue>>>>>;
  /** cvrsync does not write to a record while this property is set. */
  readonly hold: string | undefined;
  /** By property, the values that a record must have to be written to. */
  readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly notes: readonly EventName[];
  readonly autoLink: boolean;
  readonly autoMatch?: 'suggest' | undefined;
  readonly persons: boolean;
  /** The only currency of the CRM's amounts. */
  readonly currency: string | undefined;
  /** The dashboard's address in a browser. */
  readonly dashboard: string | undefined;
  readonly parent: boolean;
  /** The configured limit of records in one write. */
  readonly batch: number | undefined;
  /** 0: never. */
  readonly pollMinutes: number;
  /** 0: never. */
  readonly reconcileHours: number;
}

export interface ConnectorConfig extends Omit<FileConnector, 'webhook' | 'providers'> {
  readonly webhook: { readonly path: string; readonly auth: readonly Auth[] };
  readonly providers: readonly ConfiguredProvider[];
}

/** The configuration in force: defaults applied, environment filled in, providers loaded. */
export interface Config extends Omit<File, 'connector' | 'admin' | 'alerts'> {
  readonly alerts?: AlertsConfig | undefined;
  readonly admin: File['admin'] & { readonly port: number };
  readonly connector?: ConnectorConfig;
}

export interface LoadedConfig {
  readonly ok: true;
  readonly config: Config;
  readonly file: string;
  /** Every secret in it, for `maskerOf`. */
  readonly secrets: readonly string[];
}

export type ConfigLoad =
  | LoadedConfig
  | {
      readonly ok: false;
      readonly file: string;
      readonly errors: readonly LocatedProblem[];
      /** The configuration if only variables are missing, for commands that use no section in `errors`. */
      readonly rest?: LoadedConfig;
    };

/** Checks a parsed configuration as if it came from `file`, which need not exist. */
export async function checkConfig(value: unknown, file: string, env: Env): Promise<ConfigLoad> {
  const missing: ConfigProblem[] = [];
  const errors: ConfigProblem[] = [];
  const folder = dirname(file);
  const given = substitute(value, '', { env, read: readerIn(folder) }, { errors, missing });
  // Reports an unread value once, not also as misspelled.
  const unread = errors.length;
  const paths = new Set([...errors, ...missing].map(({ path }) => path.replace(/_FILE$/, '')));
  const isNews = (error: ConfigProblem, index: number): boolean => index < unread || !paths.has(error.path);
  const filled = fill(configSchema, given ?? {}, '', errors);
  const secrets = collectSecrets(configSchema, filled);
  const entries = Object.entries(child(child(filled, 'connector'), 'providers') ?? {});
  const dashboard = child(child(filled, 'admin'), 'publicUrl');
  const hasLegalBasis = child(filled, 'beneficialOwners') !== undefined;
  const reading = {
    hasLegalBasis,
    folder,
    secrets,
    errors,
    dashboard: typeof dashboard === 'string' ? dashboard : undefined,
  };
  const loads = entries.map(([name, entry]) => readConnection(name, entry, reading));
  const providers = (await Promise.all(loads)).filter((each) => each !== undefined);
  if (errors.length > 0) return { ok: false, file, errors: [...missing, ...errors.filter(isNews)].toSorted(byPath) };
  if (!Value.Check(configSchema, filled)) throw new Error('fill found nothing wrong with an invalid configuration');
  const { connector, admin, alerts, ...others } = filled;
  reportStore(filled, errors);
  reportBackup(filled, errors);
  reportRoles(filled, errors);
  reportRegister(filled, errors);
  reportEmailEvent(filled, errors);
  reportSignOn(admin, errors);
  reportTimeZone(filled, errors);
  const resolvedAlerts = alerts && resolveAlerts(alerts, others.service?.smtp, errors);
  if (errors.length > 0) return { ok: false, file, errors: [...missing, ...errors] };
  const host = child(child(given, 'server'), 'host') === undefined ? env[HOST] : undefined;
  const rest = {
    ...others,
    ...(host && { server: { ...others.server, host } }),
    alerts: resolvedAlerts,
    admin: { ...admin, port: admin.port ?? (others.server.port === 0 ? 0 : ADMIN_PORT) },
  };
  const config = connector === undefined ? rest : { ...rest, connector: withConnections(connector, providers) };
  const loaded: LoadedConfig = { ok: true, config, file, secrets: [...secrets] };
  return missing.length === 0 ? loaded : { ok: false, file, errors: missing.toSorted(byPath), rest: loaded };
}

const withConnections = (connector: FileConnector, providers: readonly ConfiguredProvider[]): ConnectorConfig => ({
  ...connector,
  webhook: { ...connector.webhook, auth: [connector.webhook.auth].flat() },
  providers,
});

const ADMIN_PORT = 8081;
/** The default address to listen on. The image sets it, because outside calls come through a published port. */
const HOST = 'CVRSYNC_SERVER_HOST';

function reportTimeZone({ timeZone }: Pick<File, 'timeZone'>, errors: ConfigProblem[]): void {
  if (isTimeZone(timeZone)) return;
  const meant = didYouMean(timeZone, Intl.supportedValuesOf('timeZone'));
  errors.push({ path: 'timeZone', message: `is not a time zone: give its name as in ${DANISH_ZONE}${meant}` });
}

/** Reports what single sign-on needs in addition to its own keys. */
function reportSignOn({ oidc, publicUrl }: File['admin'], errors: ConfigProblem[]): void {
  if (oidc === undefined) return;
  if (publicUrl === undefined)
    errors.push({ path: 'admin.publicUrl', message: 'is missing: the issuer of admin.oidc sends browsers back there' });
  if (Object.keys(oidc.roles).length === 0)
    errors.push({
      path: 'admin.oidc.roles',
      message: 'would let nobody in: name values for viewer, operator or admin',
    });
}

const child = (value: unknown, key: string): unknown => Object.getOwnPropertyDescriptor(value ?? {}, key)?.value;

const byPath = (a: ConfigProblem, b: ConfigProblem): number => a.path.localeCompare(b.path);

const ConnectionPart = Type.Object(connectionSchema.properties);

interface ConnectionReading {
  readonly folder: string;
  readonly hasLegalBasis: boolean;
  readonly dashboard: string | undefined;
  readonly secrets: Set<string>;
  readonly errors: ConfigProblem[];
}

async function readConnection(
  name: string,
  entry: unknown,
  { folder, hasLegalBasis, dashboard, secrets, errors }: ConnectionReading,
): Promise<ConfiguredProvider | undefined> {
  const path = `connector.providers.${name}`;
  const use = child(entry, 'use') ?? '';
  if (typeof use !== 'string' || use === '') {
    errors.push({ path: `${path}.use`, message: 'is missing: hubspot, salesforce, http, an npm package, or a path' });
    return undefined;
  }
  const load = await loadProvider(use, folder);
  if (!load.ok) {
    errors.push({ path: `${path}.use`, message: load.message });
    return undefined;
  }
  const { provider } = load;
  const schema = entrySchema(provider);
  const before = errors.length;
  const common = fill(schema, entry, path, errors);
  const own = collectSecrets(schema, common);
  for (const secret of own) secrets.add(secret);
  if (errors.length > before || !Value.Check(ConnectionPart, common)) return undefined;
  const settings = Object.entries(common).filter(([key]) => Object.hasOwn(provider.settings.properties, key));
  if (common.autoLink && common.match === undefined)
    errors.push({ path: `${path}.match`, message: 'is missing: autoLink finds records by it' });
  if (common.autoMatch !== undefined && common.match === undefined)
    errors.push({ path: `${path}.match`, message: 'is missing: autoMatch writes the accepted number there' });
  const mapping = resolveMapping(provider.preset, common, `${path}.fields`, errors);
  reportNumber(mapping, common.match?.property, `${path}.fields`, errors);
  reportNeverWhole(mapping, `${path}.fields`, errors);
  if (!common.persons) reportPersons(mapping, `${path}.fields`, errors);
  if (!hasLegalBasis) reportBeneficialOwners(mapping, `${path}.fields`, errors);
  return {
    name,
    provider,
    settings: Object.fromEntries(settings),
    mask: maskerOf(own),
    match: common.match?.property,
    matchTexts: matchTextsOf(common.match),
    policy: common.policy ?? 'tracked',
    mapping,
    values: common.values,
    hold: common.hold?.property,
    only:
      common.only && Object.fromEntries(Object.entries(common.only).map(([name, values]) => [name, [values].flat()])),
    notes: common.notes.filter(isEventName),
    autoLink: common.autoLink,
    autoMatch: common.autoMatch,
    persons: common.persons,
    currency: common.currency,
    dashboard,
    parent: common.parent,
    batch: common.batch,
    pollMinutes: common.pollMinutes,
    reconcileHours: common.reconcileHours,
  };
}

/** The property of each configured field. */
export type MatchTexts = Readonly<Partial<Record<FieldName, string>>>;

function matchTextsOf(match: object = {}): MatchTexts {
  const named = Object.entries(match).filter(([key, property]) => isFieldName(key) && typeof property === 'string');
  return Object.fromEntries(named);
}

interface Naming {
  readonly connector?: { readonly emailEvent: string; readonly upstream?: object };
  readonly service?: { readonly emailEvent: string };
}

/** Reports a name of the e-mail event that another event has, or that the other half does not read. */
function reportEmailEvent({ connector, service }: Naming, errors: ConfigProblem[]): void {
  for (const [half, named] of Object.entries({ connector, service })) {
    const event = named && eventNamed(named.emailEvent);
    if (event !== undefined && event !== 'email')
      errors.push({
        path: `${half}.emailEvent`,
        message: `is the name of the event ${event}: give the e-mail event another name, or leave this out for email`,
      });
  }
  if (connector === undefined || service === undefined || connector.upstream !== undefined) return;
  if (eventNamed(service.emailEvent, connector) === undefined)
    errors.push({
      path: 'connector.emailEvent',
      message: 'differs from service.emailEvent, the name that the service sends to this connector: write the same',
    });
}

/** Whether cvrsync reads, stores, sends and writes beneficial owners: only if the configuration names a legal basis. */
export const allowsBeneficialOwners = ({ beneficialOwners }: Pick<Config, 'beneficialOwners'>): boolean =>
  beneficialOwners !== undefined;

/** How the connector reads events. */
export const wireOf = (config: Pick<Config, 'connector' | 'beneficialOwners'>): Required<WireOptions> => ({
  emailEvent: config.connector?.emailEvent ?? 'email',
  beneficialOwners: allowsBeneficialOwners(config),
});
