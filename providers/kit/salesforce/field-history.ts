import type { PropertyValue } from '../../provider.ts';
import type { StoredAccount } from './org/accounts.ts';
import type { Org } from './org/org.ts';

/** Writes values as a user, and records the changes of tracked fields in AccountHistory. */
export function writeAs(
  org: Org,
  account: StoredAccount,
  values: Readonly<Record<string, PropertyValue>>,
  userId: string,
): void {
  const before = account.values;
  org.accounts.write(account, values);
  account.modifiedById = userId;
  for (const name of org.options.trackedFields ?? []) {
    const [old, now] = [before[name] ?? null, account.values[name] ?? null];
    if (old === now) continue;
    const row = { AccountId: account.id, Field: name, OldValue: old, NewValue: now, CreatedById: userId };
    org.tables.insert('AccountHistory', { ...row, 'CreatedBy.Name': org.users.nameOf(userId) });
  }
}
