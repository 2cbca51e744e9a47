/** The accounts of an emulated org, including the recycle bin. */
import type { PropertyValue } from '../../../provider.ts';
import { toLongId } from '../../../salesforce/client/ids.ts';

/** One account; values are as Salesforce stores them, without blanks. */
export interface StoredAccount {
  readonly id: string;
  values: Readonly<Record<string, PropertyValue>>;
  readonly createdAt: number;
  updatedAt: number;
  /** The user who last changed it; default: the user of the tokens. */
  modifiedById?: string;
  deleted: boolean;
  /** The survivor, if this one was merged away. */
  masterId: string | undefined;
}

export interface Accounts {
  create(values: Readonly<Record<string, PropertyValue>>): StoredAccount;
  /** By an id of 15 or 18 characters, deleted or not; undefined once purged. */
  find(id: string): StoredAccount | undefined;
  write(account: StoredAccount, values: Readonly<Record<string, PropertyValue>>): void;
  remove(account: StoredAccount, masterId?: string): void;
  restore(account: StoredAccount): void;
  /** Removes one record from the recycle bin. */
  purge(account: StoredAccount): void;
  /** All accounts in the order of their ids, including deleted ones; begins after `after`. */
  ordered(after?: string): Generator<StoredAccount>;
  holder(field: string, value: PropertyValue): StoredAccount | undefined;
  makeUnique(field: string): void;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const OWNER = '005Qy000000Ow1AIAS';

/** Opens an empty table; ids rise, so that their order is the order of creation. `defaults` fill a new account. */
export function openAccounts(
  seed: number,
  unique: readonly string[],
  now: () => number,
  defaults: Readonly<Record<string, PropertyValue>> = {},
): Accounts {
  const byId = new Map<string, StoredAccount>();
  const order: StoredAccount[] = [];
  const holders = new Map(unique.map((name) => [name, new Map<string, StoredAccount>()]));

  const hold = (account: StoredAccount, take: boolean) => {
    for (const [name, held] of holders) {
      const value = account.values[name];
      if (value === undefined || value === null) continue;
      const key = keyOf(value);
      if (take) held.set(key, account);
      else if (held.get(key) === account) held.delete(key);
    }
  };
  const change = (account: StoredAccount, work: () => void) => {
    hold(account, false);
    work();
    account.updatedAt = now();
    if (!account.deleted) hold(account, true);
  };

  return {
    create(values) {
      const id = toLongId(`001Qy${base62(seed, 2)}00${base62(order.length + 1, 6)}`);
      const at = now();
      const account: StoredAccount = {
        id,
        values: withoutBlanks({ OwnerId: OWNER, ...defaults, ...values }),
        createdAt: at,
        updatedAt: at,
        deleted: false,
        masterId: undefined,
      };
      byId.set(id, account);
      order.push(account);
      hold(account, true);
      return account;
    },
    find: (id) => byId.get(toLongId(id)),
    write: (account, values) =>
      change(account, () => {
        account.values = withoutBlanks({ ...account.values, ...values });
      }),
    remove: (account, masterId) =>
      change(account, () => {
        account.deleted = true;
        account.masterId = masterId;
      }),
    restore: (account) =>
      change(account, () => {
        account.deleted = false;
        account.masterId = undefined;
      }),
    purge(account) {
      byId.delete(account.id);
      const at = firstOver(order, account.id) - 1;
      if (order[at] === account) order.splice(at, 1);
    },
    *ordered(after) {
      for (let at = after === undefined ? 0 : firstOver(order, after); at < order.length; at += 1) {
        const account = order[at];
        if (account !== undefined) yield account;
      }
    },
    holder: (field, value) => holders.get(field)?.get(keyOf(value)),
    makeUnique: (field) => void holders.set(field, new Map()),
  };
}

const keyOf = (value: PropertyValue): string => String(value).toLowerCase();

function base62(number: number, width: number): string {
  let text = '';
  for (let rest = number; text.length < width; rest = Math.floor(rest / 62)) text = DIGITS.charAt(rest % 62) + text;
  return text;
}

function firstOver(order: readonly StoredAccount[], id: string): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((order[middle]?.id ?? '') > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

const withoutBlanks = (values: Readonly<Record<string, PropertyValue>>): Record<string, PropertyValue> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== ''));
