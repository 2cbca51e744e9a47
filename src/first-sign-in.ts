/** Addresses that sign an operator in on the dashboard, once. */
import type { App } from './app.ts';
import type { Config } from './config/load.ts';
import { ownAddress } from './halves.ts';
import { createFirstLink } from './runtime/operators/sessions.ts';

/** The address that uses a link's token. */
export const signInAddress = ({ admin }: Config, token: string, port = admin.port): string =>
  `${admin.publicUrl ?? ownAddress(admin.host, port)}/login/${token}`;

/** The address that makes the first operator of a daemon; undefined if there was one, or if an issuer names the operators. */
export async function firstSignIn(
  config: Config,
  { store, adminUrl }: Pick<App, 'store' | 'adminUrl'>,
): Promise<string | undefined> {
  if (config.admin.oidc !== undefined) return undefined;
  const token = await store.write((tx) => createFirstLink(tx, Date.now()));
  return token && signInAddress(config, token, Number(new URL(adminUrl).port));
}
