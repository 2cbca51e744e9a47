/** Checks made before a connection touches any record. A failure stops the whole connection, not one record. */
import { type Connection, type Property, ProviderError } from '../../../providers/provider.ts';
import type { Findings } from '../../runtime/finding.ts';
import { readValue } from '../../store/kv.ts';
import type { Db, Store } from '../../store/store.ts';
import type { DecisionRules } from '../rules/rules.ts';

/**
 * Throws if the credentials belong to another account than the connection's first one: every record would look deleted
 * there, and every link would end. Remembers the account the first time, unless this is a trial. One or two calls.
 */
export async function guardAccount(
  { store, now, isTrial }: { readonly store: Store; readonly now: () => number; readonly isTrial?: true },
  { name, connection }: { readonly name: string; readonly connection: Connection },
  signal: AbortSignal,
): Promise<void> {
  const { id } = await connection.check(signal);
  const row = { key: accountKey(name), value: id, updated_at: now() };
  if (isTrial !== true)
    await store.write((tx) =>
      tx
        .insertInto('kv')
        .values(row)
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute(),
    );
  const known = await readAccount(store.db, name);
  if (known === undefined || known === id) return;
  const message = `the credentials of ${name} belong to account ${id}, and its links to account ${known}`;
  throw new ProviderError('refused', `${message}: correct them, or configure ${id} under another name`);
}

const accountKey = (name: string): string => `account:${name}`;

export const readAccount = (db: Db, name: string): Promise<string | undefined> => readValue(db, accountKey(name));

/** A connection with the name of its provider. */
interface Named {
  readonly name: string;
  readonly provider: { readonly name: string };
}

/** What speaks against connections of one provider with one account: both would write to the same records. */
export const twinFindings = (
  { name, provider }: Named,
  account: string,
  others: readonly (Named & { readonly account: string | undefined })[],
): Findings =>
  others
    .filter((other) => other.name !== name && other.provider.name === provider.name && other.account === account)
    .map((other) => ({
      level: 'warn',
      subject: name,
      found: `${name} and ${other.name} are the same account (${account})`,
      advice: 'both would write to the same records: keep one of them, or enter the key of the other account',
    }));

/** The connections with the accounts that they are known to lead to. */
export const withAccounts = <N extends Named>(db: Db, connections: readonly N[]) =>
  Promise.all(connections.map(async (each) => ({ ...each, account: await readAccount(db, each.name) })));

/** The same for each pair of them; `answered`: the accounts that answered just now. */
export async function twinsAmong(
  db: Db,
  connections: readonly Named[],
  answered: ReadonlyMap<string, string>,
): Promise<Findings> {
  const known = await withAccounts(db, connections);
  const all = known.map((each) => ({ ...each, account: answered.get(each.name) ?? each.account }));
  return all.flatMap((own, at) => (own.account === undefined ? [] : twinFindings(own, own.account, all.slice(at + 1))));
}

/** Throws if the hold property cannot be read: every held record would be written. */
export function guardHold(
  name: string,
  { hold, only = {} }: Pick<DecisionRules, 'hold' | 'only'>,
  schema: ReadonlyMap<string, Property>,
): void {
  for (const [key, asked] of [['hold', hold], ...Object.keys(only).map((each) => ['only', each] as const)] as const) {
    const property = asked === undefined ? undefined : schema.get(asked);
    if (asked === undefined || (property !== undefined && property.unreadable !== true)) continue;
    const unknown = `so nobody knows which records ${key === 'hold' ? 'are on hold' : 'to write to'}`;
    throw new ProviderError(
      'refused',
      property === undefined
        ? `${name} has no property ${asked} that these credentials can read, ${unknown}: create it, grant it, or take ${key} out of the configuration`
        : `${asked} of ${name} cannot be read back, ${unknown}: let records be read (readUrl), or take ${key} out of the configuration`,
    );
  }
}
