/** Connections that lead to the same account of a CRM. */
import type { Findings } from '../../runtime/finding.ts';
import type { Db } from '../../store/store.ts';
import { readAccount } from './guard.ts';

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
