/** Resolves names without letting a slow name server block other look-ups. */
import { lookup, Resolver } from 'node:dns/promises';

/** Finds the addresses of a host name, at least one; else rejects. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** For the first attempt; the second takes twice as long. Together they fit the time to connect. */
const PATIENCE_MS = 1_500;
const TRIES = 2;
/** Names of this machine and its network: only the hosts file and the search list know them. */
const LOCAL = /^[^.]+\.?$|\.localhost\.?$/i;
/** The name server does not know the name, or there is no name server: the hosts file may know it. */
const UNKNOWN: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

/**
 * Asks the name server for IPv4 addresses, then for IPv6 ones, then the operating system. The system comes last because
 * its look-up occupies one of four threads until it has an answer: a few names with silent servers would stop every
 * other look-up, and file access.
 */
export function createResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: PATIENCE_MS, tries: TRIES });
  const bySystem = async (hostname: string) => (await lookup(hostname, { all: true })).map(({ address }) => address);
  return async (hostname) => {
    if (LOCAL.test(hostname)) return bySystem(hostname);
    const found = (await known(resolver.resolve4(hostname))) ?? (await known(resolver.resolve6(hostname)));
    return found ?? bySystem(hostname);
  };
}

async function known(asked: Promise<string[]>): Promise<readonly string[] | undefined> {
  try {
    const found = await asked;
    return found.length > 0 ? found : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && UNKNOWN.includes(error.code)) return undefined;
    throw error;
  }
}
