/**
 * How the halves find each other if both run in one process: over HTTP, as if they were a continent apart. A half that
 * is not configured is not loaded.
 */
import type { Config } from './config/load.ts';
import type { DaemonRole } from './config/schema/roles.ts';
import { loadAdminToken } from './http/server/admin-token.ts';
import type { Secrets } from './service/keys/secrets.ts';

/** The secrets of a configured service, under its key; undefined if there is no service. Makes the key file where it must. */
export async function secretsOf({ service, store }: Config): Promise<Secrets | undefined> {
  if (service === undefined) return undefined;
  const { loadSecretKey, openSecrets } = await import('./service/keys/secrets.ts');
  return openSecrets(await loadSecretKey(service.secretKey, store));
}

/** The admin token in force; undefined if there is none. Makes the token file where it must. */
export const adminTokenOf = ({ admin, service, store }: Config): Promise<string | undefined> =>
  loadAdminToken({ token: admin.token, store, secretKey: service?.secretKey });

/** Where this machine reaches a server that listens at a host and port. */
export const ownAddress = (host: string, port: number): string => {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
};

/** Where the daemon with a role is reached: at `own` if this one has it. The configuration says where else. */
export const addressFor = <A extends string | Promise<string>>(role: DaemonRole, config: Config, own: A): A | string =>
  config.roles.includes(role) ? own : (config.server.publicUrl ?? own);

/** Where a command reaches the installation's own service. */
export const serviceAddress = (config: Config): string =>
  addressFor('service', config, ownAddress(config.server.host, config.server.port));

/** How an installation is called in messages: its public address, or the one on this machine. */
export const placeOf = ({ server: { publicUrl, host, port } }: Pick<Config, 'server'>): string =>
  publicUrl ?? ownAddress(host, port);

/** The service the connector calls: the configured one, else the other half of this process at `own`, else none. */
export async function upstreamOf<A extends string | Promise<string>>(
  config: Config,
  secrets: Secrets | undefined,
  own: A,
): Promise<
  | {
      readonly baseUrl: string | A;
      readonly accessKey: string;
      readonly requestsPerMinute: number;
      readonly isOwn?: boolean;
    }
  | undefined
> {
  const configured = config.connector?.upstream;
  if (configured !== undefined || config.service === undefined || secrets === undefined) return configured;
  const { ownKey } = await import('./service/delivery/own-jobs.ts');
  return { baseUrl: own, accessKey: ownKey(secrets), requestsPerMinute: config.service.requestsPerMinute, isOwn: true };
}
