/** The configuration that a process has read, as the operations on it need it, and what of it is accepted at once. */
import { configContent, configDigests } from './config/digests.ts';
import type { Config } from './config/load.ts';
import type { Crm } from './connector/crm/crm.ts';
import type { ConfigNeeds } from './operations/installation/configuration.ts';
import { acceptSettings, type ConfigParts } from './runtime/config-versions.ts';
import { saltOf } from './runtime/daemons.ts';
import type { Store } from './store/store.ts';

interface Reading {
  readonly store: Store;
  readonly now: () => number;
}

/** A configuration part by part. */
export const partsOf = async (config: Config, { store, now }: Reading): Promise<ConfigParts> => ({
  digests: await configDigests(config, await saltOf(store, now())),
  content: configContent(config),
});

/** The configurations of a daemon that runs. */
export interface LiveConfig {
  /** In force: it still has what only a restart changes, and connections whose removal waits to be accepted. */
  readonly config: Config;
  /** As the file said last. */
  readonly read: Config;
}

/** What a daemon read last, with its open connections. */
export const configurationOf = (
  live: Pick<LiveConfig, 'read'>,
  { store, now, crms, look }: Reading & { readonly crms: readonly Crm[]; readonly look: (() => void) | undefined },
): ConfigNeeds['configuration'] => ({
  look,
  rules: () => live.read.connector?.providers ?? [],
  parts: () => partsOf(live.read, { store, now }),
  async openCrm(name) {
    const crm = crms.find((one) => one.name === name);
    if (crm === undefined) throw new Error(`${name} is not configured here`);
    return crm;
  },
});

/** Accepts what of a daemon's configuration touches no value of a record; returns what it cannot, see {@link acceptSettings}. */
export async function acceptOwn(
  config: Config,
  { store, now, daemon, by }: Reading & { readonly daemon: string; readonly by?: string | undefined },
): Promise<readonly string[]> {
  const own = await partsOf(config, { store, now });
  return store.write((tx) => acceptSettings(tx, own, { daemon, now: now(), by }));
}
