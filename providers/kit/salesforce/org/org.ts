/** One emulated org: its options with defaults, and all state the endpoints share. */

import type { PropertyValue, Window } from '../../../provider.ts';
import { toLongId } from '../../../salesforce/client/ids.ts';
import { fromSalesforce } from '../../../salesforce/read/values.ts';
import type { EmulatorOptions } from '../../emulator/emulator.ts';
import { seeded } from '../../emulator/seeded.ts';
import { type Accounts, openAccounts, type StoredAccount } from './accounts.ts';
import { type FieldDefinition, type FieldOptions, orgDefinitions } from './definitions.ts';
import { type OrgLimits, openLimits } from './limits.ts';
import { openTables, type Tables } from './tables.ts';
import { type Flow, openTokens, type Tokens } from './tokens.ts';
import { openTriggers, type Trigger, type Triggers } from './triggers.ts';
import { openUsers, type Users } from './users.ts';

/** The options of an emulated Salesforce. */
export interface SalesforceEmulatorOptions extends EmulatorOptions {
  /** The flow its credentials are for; client credentials where absent. */
  readonly flow?: Flow;
  /** Whether a refresh token is good for one use only; true where absent. */
  readonly rotate?: boolean;
  /** How long a session lasts; two hours where absent. */
  readonly sessionMs?: number;
  /** Calls in any window of that length; no such limit where absent, as in Salesforce. */
  readonly rate?: Window | 'none';
  /** Calls in 24 hours, 100,000 where absent. */
  readonly daily?: number;
  /** How far Sforce-Limit-Info lags behind, up and down; 20 calls where absent. */
  readonly usageJitter?: number;
  /** Extra fields, or others under the same name. */
  readonly fields?: readonly FieldOptions[];
  /** Names of default fields the org lacks. */
  readonly missingFields?: readonly string[];
  /** Names of fields that field-level security hides from the user. */
  readonly hiddenFields?: readonly string[];
  /** Names of fields whose changes AccountHistory keeps; none where absent, as in a new org. */
  readonly trackedFields?: readonly string[];
  /** State and Country picklists: names by code. Off where absent. */
  readonly countries?: Readonly<Record<string, string>>;
  /** Where those are on: a country's states, names by code; a country that is absent has none. */
  readonly states?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Several currencies: the org's own first. A record has its own in `CurrencyIsoCode`. One currency where absent. */
  readonly currencies?: readonly string[];
  readonly triggers?: readonly Trigger[];
  readonly personAccounts?: boolean;
  /** Rows in a page of a query, 2,000 at most. */
  readonly pageSize?: number;
  /** How long a query may be paged on. */
  readonly locatorMs?: number;
  /** A field the user may not see fails its record, or the whole call: not documented, so both must be survived. */
  readonly unknownField?: 'record' | 'call';
  /** A validation rule: what it says about the values a record would have. */
  readonly validationRule?: (values: Readonly<Record<string, PropertyValue>>) => string | undefined;
  /** A duplicate rule: `alert` lets a write pass that asks for it; `matches` are the ids of the records it found. */
  readonly duplicateRule?: (values: Readonly<Record<string, PropertyValue>>) => Alert | Alert['action'] | undefined;
  /** Names and messages of rules the org lists, whatever they do: the two options above are what they do. */
  readonly listed?: {
    readonly validation?: readonly { readonly name: string; readonly message: string }[];
    readonly duplicate?: readonly string[];
  };
  /** False where the user lacks Customize Application: no fields can be made, no validation rules seen. */
  readonly mayCustomize?: boolean;
  /** False where the user lacks Manage Profiles and Permission Sets. */
  readonly mayGrant?: boolean;
  /** What the user may do with accounts beside reading them; all of it where absent. */
  readonly mayEdit?: boolean;
  readonly mayCreate?: boolean;
  /** False where the user lacks Edit Tasks. */
  readonly mayEditTasks?: boolean;
  /** False where Notes are off in the org. */
  readonly notesEnabled?: boolean;
  /** Values of a task's status, the closed ones marked. */
  readonly taskStatuses?: readonly { readonly label: string; readonly closed: boolean }[];
  /** False where the user may not read Organization. */
  readonly organizationVisible?: boolean;
}

/** What a duplicate rule says. */
export interface Alert {
  readonly action: 'alert' | 'block';
  readonly matches: readonly string[];
}

/** State and rules; `written` is called after every change through the API. */
export interface Org {
  readonly options: SalesforceEmulatorOptions;
  readonly definitions: Map<string, FieldDefinition>;
  readonly hidden: Set<string>;
  readonly accounts: Accounts;
  readonly limits: OrgLimits;
  readonly tokens: Tokens;
  readonly users: Users;
  /** Tries that still find the row locked, by id. */
  readonly locks: Map<string, number>;
  /** Ids of records that an approval keeps locked. */
  readonly approvals: Set<string>;
  readonly triggers: Triggers;
  /** True where the org takes no new records. */
  storageFull: boolean;
  /** Rows that open queries still owe, by locator. */
  readonly locators: Map<string, { readonly rows: readonly object[]; readonly total: number; readonly until: number }>;
  /** The other objects. */
  readonly tables: Tables;
  readonly now: () => number;
  /** A field the user may see. */
  field(name: string): FieldDefinition | undefined;
  /** What `CrmEmulator.get` shows, blanks as null. */
  values(account: StoredAccount, names?: Iterable<string>): Record<string, PropertyValue>;
  written: (account: StoredAccount, names: readonly string[]) => void;
  /** Called with the ids of a read whose answer is made, and of an update that was not looked at yet. */
  read: (ids: readonly string[]) => void;
  arrived: (ids: readonly string[]) => void;
}

const TWO_HOURS_MS = 7_200_000;

/** Opens an empty org. */
export function openOrg(options: SalesforceEmulatorOptions): Org {
  const now = options.now ?? Date.now;
  const seed = options.seed ?? 1;
  const definitions = orgDefinitions(options.fields ?? [], options.missingFields ?? [], options);
  const unique = [...definitions.values()].filter((field) => field.unique).map((field) => field.name);
  const hidden = new Set(options.hiddenFields ?? []);
  const [currency] = options.currencies ?? [];
  const window = options.rate === 'none' ? undefined : options.rate;
  const limits = { window, daily: options.daily ?? 100_000, jitter: options.usageJitter ?? 20 };
  const tokenOptions = {
    flow: options.flow ?? 'client-credentials',
    rotate: options.rotate ?? true,
    lifetimeMs: options.sessionMs ?? TWO_HOURS_MS,
    organizationId: toLongId('00DQy00000Emu1A'),
  };
  const tokens = openTokens(tokenOptions, now);
  return {
    options,
    definitions,
    hidden,
    accounts: openAccounts(seed, unique, now, currency === undefined ? {} : { CurrencyIsoCode: currency }),
    limits: openLimits(limits, seeded(seed)),
    tokens,
    users: openUsers(tokens.userId),
    locks: new Map(),
    approvals: new Set(),
    triggers: openTriggers(options.triggers ?? []),
    storageFull: false,
    locators: new Map(),
    tables: filledTables(options, tokenOptions.organizationId, now),
    now,
    field: (name) => (hidden.has(name) ? undefined : definitions.get(name)),
    values: (account, names = definitions.keys()) =>
      Object.fromEntries([...names].map((name) => [name, shown(account, name, definitions.get(name)?.type)])),
    written: () => {},
    read: () => {},
    arrived: () => {},
  };
}

function filledTables(options: SalesforceEmulatorOptions, organizationId: string, now: () => number): Tables {
  const tables = openTables(now);
  const organization = { Name: 'Emulated Org', OrganizationType: 'Enterprise Edition', IsSandbox: false };
  tables.insert('Organization', organization, organizationId);
  const statuses = options.taskStatuses ?? [
    { label: 'Not Started', closed: false },
    { label: 'Completed', closed: true },
  ];
  for (const [at, { label, closed }] of statuses.entries())
    tables.insert('TaskStatus', { MasterLabel: label, IsClosed: closed, SortOrder: at + 1 });
  for (const [at, code] of (options.currencies ?? []).entries())
    tables.insert('CurrencyType', { IsoCode: code, IsActive: true, IsCorporate: at === 0, ConversionRate: 1 + at });
  for (const { name, message } of options.listed?.validation ?? []) {
    const values = { ValidationName: name, Active: true, ErrorMessage: message };
    tables.insert('ValidationRule', { ...values, 'EntityDefinition.QualifiedApiName': 'Account' });
  }
  for (const name of options.listed?.duplicate ?? [])
    tables.insert('DuplicateRule', { DeveloperName: name, MasterLabel: name, SobjectType: 'Account', IsActive: true });
  return tables;
}

/** The value of one field as the API shows it, the ones Salesforce keeps by itself included. */
export function rawValue(account: StoredAccount, name: string): PropertyValue {
  switch (name) {
    case 'Id':
      return account.id;
    case 'IsDeleted':
      return account.deleted;
    case 'MasterRecordId':
      return account.masterId ?? null;
    case 'CreatedDate':
      return salesforceTime(account.createdAt);
    case 'LastModifiedById':
      return account.modifiedById ?? null;
    case 'LastModifiedDate':
    case 'SystemModstamp':
      // Kept by the second, as in Salesforce.
      return salesforceTime(Math.floor(account.updatedAt / 1_000) * 1_000);
    default:
      return account.values[name] ?? null;
  }
}

/** A checkbox has no blank. */
const shown = (account: StoredAccount, name: string, type: string | undefined): PropertyValue =>
  fromSalesforce(rawValue(account, name), type) ?? (type === 'boolean' ? false : null);

/** `2026-08-01T10:00:00.000+0000`. */
export const salesforceTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '+0000');
