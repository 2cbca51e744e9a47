import type { Config } from '../../config/load.ts';
import { adminTokenOf, ownAddress } from '../../halves.ts';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { isLoopback } from '../../http/server/networks.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { readDaemons } from '../../runtime/daemons.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { listOperators } from '../../runtime/operators/operators.ts';
import type { Store } from '../../store/store.ts';

const subject = 'admin listener';

/**
 * Checks whether other machines reach the admin listener, whether anybody may sign in, whether a token exists, and
 * whether a running daemon accepts it.
 */
export async function adminFindings(
  { config, store, http }: { readonly config: Config; readonly store: Store; readonly http: OutboundHttp },
  signal: AbortSignal,
): Promise<Findings> {
  return [...exposure(config), ...(await checkOperators(config, store)), ...(await checkToken(config, http, signal))];
}

/** Until a daemon runs, nobody needs to sign in: `serve` prints the link for the first operator. */
async function checkOperators({ admin }: Config, store: Store): Promise<Findings> {
  const subject = 'operators';
  if (admin.oidc !== undefined) return [];
  const operators = await listOperators(store.db);
  if (operators.some(({ revokedAt }) => revokedAt === null)) return [];
  const isRunning = (await readDaemons(store.db, Date.now())).length > 0;
  const makeOne = 'cvrsync operators create NAME --role admin';
  if (operators.length > 0)
    return [{ level: 'fail', subject, found: 'every operator is revoked: nobody can sign in', advice: makeOne }];
  return [
    isRunning
      ? {
          level: 'fail',
          subject,
          found: 'there is none: nobody can sign in',
          advice: `open the link that serve printed, or the one of cvrsync operators login-link, or run ${makeOne}`,
        }
      : { level: 'info', subject, found: 'none yet: serve prints a link that creates the first one' },
  ];
}

async function checkToken(config: Config, http: OutboundHttp, signal: AbortSignal): Promise<Findings> {
  try {
    const token = await adminTokenOf(config);
    return token === undefined ? [NO_TOKEN] : await trial(config, token, http, signal);
  } catch (error) {
    return [{ level: 'fail', subject, found: errorText(error), advice: 'repair the token file, or set admin.token' }];
  }
}

const NO_TOKEN: Finding = {
  level: 'info',
  subject,
  found: 'there is no admin token: cvrsync creates none for PostgreSQL',
  advice: 'set admin.token, or service.secretKey',
};

function exposure({ admin }: Config): Findings {
  if (isLoopback(admin.host)) return [];
  const found = `it listens on ${admin.host}: other machines can reach the administration`;
  if (admin.exposed) return [{ level: 'info', subject, found: `${found}, as admin.exposed says` }];
  return [
    {
      level: 'fail',
      subject,
      found,
      advice:
        'remove admin.host; in a container, or behind a firewall that lets only you through, set admin.exposed: true',
    },
  ];
}

/** Asks the daemon that listens there, if one does. */
async function trial({ admin }: Config, token: string, http: OutboundHttp, signal: AbortSignal): Promise<Findings> {
  if (admin.port === 0) return [];
  const url = `${ownAddress(admin.host, admin.port)}/admin/api/keys`;
  const answer = await http({ method: 'GET', url, headers: { authorization: `Bearer ${token}` }, signal }).catch(
    () => undefined,
  );
  if (answer?.status === 200) return [{ level: 'ok', subject, found: 'the running daemon accepts the admin token' }];
  if (answer?.status !== 401) return [];
  return [
    {
      level: 'warn',
      subject,
      found: 'the running daemon has another admin token',
      advice: 'restart it; if it belongs to another configuration, set another admin.port',
    },
  ];
}
