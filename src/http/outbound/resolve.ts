/** Names to addresses, without a slow name server keeping all others waiting. */
import { lookup, Resolver } from 'node:dns/promises';

/** Finds the addresses of a host name, at least one. Rejects where there is none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Ms for the first question; the second gets twice as long. Together within the time to connect. */
const PATIENCE_MS = 1_500;
const TRIES = 2;
/** Names of this machine and of its own network: the hosts file and the search list know them, a public server does not. */
const LOCAL = /^[^.]+\.?$|\.localhost\.?$/i;
/** The name server does not know it, or there is none: the hosts file may. */
const UNKNOWN: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

/**
 * Asks the name server for IPv4 addresses, then for IPv6 ones, then looks where the system looks.
 *
 * The system's own way comes last because it takes one of four threads of the process until it has an answer: a handful
 * of names whose servers are silent would stop every other look-up, and work on files.
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
