/** The configuration in force as it may be shown, and what the dashboard tells of the installation. */
import type { Config } from './config/load.ts';
import { collectSecrets, redact } from './config/redact.ts';
import { configSchema } from './config/schema/schema.ts';
import type { Installation } from './dashboard/installation/installation.ts';
import type { OutboundHttp } from './http/outbound/client.ts';
import { maskerOf } from './protocol/text/mask.ts';
import type { Store } from './store/store.ts';
import { readVersion } from './version.ts';

/** Separates the connections from the rest, because the settings of each connection have their own schema. */
const partsOf = ({ connector, ...rest }: Config) => ({
  common: { ...rest, ...(connector !== undefined && { connector: { ...connector, providers: {} } }) },
  providers: connector?.providers ?? [],
});

/** The configuration with defaults filled in and secrets masked. */
export function shownConfig(config: Config): { readonly config: unknown; readonly providers: readonly object[] } {
  const { common, providers } = partsOf(config);
  return {
    config: redact(configSchema, common),
    providers: providers.map(({ provider, settings, ...more }) => {
      return { ...more, use: provider.name, settings: redact(provider.settings, settings) };
    }),
  };
}

/** Every secret text of a configuration, for `maskerOf`. */
function secretsIn(config: Config): readonly string[] {
  const { common, providers } = partsOf(config);
  const ofProviders = providers.flatMap(({ provider, settings }) => [...collectSecrets(provider.settings, settings)]);
  return [...collectSecrets(configSchema, common), ...ofProviders];
}

/** What {@link installationOf} needs from the running process. */
interface InstallationBase {
  /** Where our own service is reached, once it is known. */
  readonly own: Promise<string> | string;
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly now: () => number;
  /** When this process started. */
  readonly startedAt: number;
}

/** What the dashboard tells of this process and its configuration. */
export function installationOf(
  live: { readonly config: Config },
  { store, http, startedAt, own }: InstallationBase,
): Installation {
  // Loaded on first use: the daemon itself does not need it.
  const findings = () => import('./commands/check/findings.ts');
  return {
    version: readVersion(),
    startedAt,
    shownConfig: () => shownConfig(live.config),
    mask: (text) => maskerOf(secretsIn(live.config))(text),
    quickFindings: async () => (await findings()).quickFindings({ config: live.config, store }),
    async allFindings(signal) {
      const { allFindings, diskFindings, warningsOf } = await findings();
      const { config } = live;
      const whole = await allFindings({ config, store, http, own: await own }, signal);
      return [...warningsOf(config), ...(await diskFindings(store, config)), ...whole];
    },
  };
}
