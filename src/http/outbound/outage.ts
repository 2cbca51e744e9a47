/**
 * Detects outages: accounts that do not answer or refuse the credentials. Logs one warning a minute and one line at the
 * end, and stores a row for pages and commands.
 */

import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store } from '../../store/store.ts';
import type { OutboundHttp } from './client.ts';
import { HttpFault } from './fault.ts';

export interface Outage {
  readonly account: string;
  readonly since: number;
  readonly failure: string;
}

export interface Outages {
  watch(account: string, http: OutboundHttp): OutboundHttp;
  watchHosts(http: OutboundHttp): OutboundHttp;
}

interface OutageDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void };
}

const EVERY_MS = 60_000;
/** Callers write a row once a minute: an older one belongs to a process that ended. */
const STALE_MS = 15 * 60_000;
const PREFIX = 'outage:';
const ANSWERED = 'answered';
const REFUSED = `${ANSWERED} 401`;

export function watchOutages({ store, now, log }: OutageDeps): Outages {
  const open = new Map<string, { readonly since: number; notifiedAt: number }>();
  const answered = new Set<string>();

  async function fails(account: string, failure: string): Promise<void> {
    answered.delete(account);
    const outage = open.get(account) ?? { since: now(), notifiedAt: Number.NEGATIVE_INFINITY };
    open.set(account, outage);
    if (now() - outage.notifiedAt < EVERY_MS) return;
    outage.notifiedAt = now();
    const { since } = outage;
    log.warn(
      { account, since: new Date(since).toISOString(), failure },
      failure === REFUSED
        ? `${account} refuses the credentials: renew them if this continues. cvrsync tries again, and loses nothing`
        : `${account} ${troubleOf(failure)}: cvrsync tries again until it works, and loses nothing`,
    );
    const row: Outage = { account, since, failure };
    await store.write((tx) => writeValue(tx, `${PREFIX}${account}`, JSON.stringify(row), now())).catch(() => undefined);
  }

  async function answers(account: string): Promise<void> {
    if (answered.has(account)) return;
    answered.add(account);
    const outage = open.get(account);
    open.delete(account);
    const key = `${PREFIX}${account}`;
    // Also clears the row of an earlier process.
    const clear = async (): Promise<void> => {
      if ((await readValue(store.db, key)) !== undefined)
        await store.write((tx) => tx.deleteFrom('kv').where('key', '=', key).execute());
    };
    await clear().catch(() => answered.delete(account));
    if (outage === undefined) return;
    const seconds = Math.round((now() - outage.since) / 1_000);
    log.info({ account, since: new Date(outage.since).toISOString(), seconds }, `${account} answers again`);
  }

  const watch =
    (accountOf: (url: string) => string, http: OutboundHttp): OutboundHttp =>
    async (request) => {
      const account = accountOf(request.url);
      try {
        const response = await http(request);
        const { status } = response;
        if (status >= 500 || status === 401) await fails(account, `${ANSWERED} ${status}`);
        // Another refusal may concern one record, so it proves nothing about the account.
        else if (status < 400) await answers(account);
        return response;
      } catch (error) {
        // The message may hold an address with a key in it.
        if (error instanceof HttpFault && error.kind !== 'aborted') await fails(account, `no answer (${error.kind})`);
        throw error;
      }
    };

  return {
    watch: (account, http) => watch(() => account, http),
    watchHosts: (http) => watch((url) => new URL(url).host, http),
  };
}

export async function readOutages(db: Db, now: number): Promise<readonly Outage[]> {
  const rows = await db
    .selectFrom('kv')
    .select('value')
    .where('key', 'like', `${PREFIX}%`)
    .where('updated_at', '>', now - STALE_MS)
    .orderBy('key')
    .execute();
  // {@link watchOutages} wrote these rows.
  return rows.map(({ value }): Outage => JSON.parse(value));
}

export const shownOutage = ({ account, since, failure }: Outage): string =>
  `${account} ${troubleOf(failure)} since ${new Date(since).toISOString().slice(0, 19)}Z: ${failure}`;

const troubleOf = (failure: string): string => {
  if (failure === REFUSED) return 'refuses the credentials';
  return failure.startsWith(ANSWERED) ? 'answers with errors' : 'does not answer';
};
