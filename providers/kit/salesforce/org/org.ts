/** One emulated org: its options with defaults, and the state that all endpoints share. */

import type { PropertyValue, Window } from '../../../provider.ts';
import { toLongId } from '../../../salesforce/client/ids.ts';
import { fromSalesforce } from '../../../salesforce/read/values.ts';
import type { EmulatorOptions } from '../../emulator/emulator.ts';
import { seeded } from '../../emulator/seeded.ts';
import { type Accounts, openAccounts, type StoredAccount } from './accounts.ts';
import { type FieldDefinition, type FieldOptions, orgDefinitions } from './definitions.ts';
import { type OrgLimits, openLimits } from './limits.ts';
import { listField, openTables, type Tables } from './tables.ts';
import { type Flow, openTokens, type Tokens } from './tokens.ts';
import { openTriggers, type Trigger, type Triggers } from './triggers.ts';
import { openUsers, type Users } from './users.ts';

export interface SalesforceEmulatorOptions extends EmulatorOptions {
  /** The flow of its credentials; default: client credentials. */
  readonly flow?: Flow;
  /** Whether a refresh token works only once; default true. */
  readonly rotate?: boolean;
  /** How long a session lasts; default: two hours. */
  readonly sessionMs?: number;
  /** Calls in any window of that length; default: no such limit, as in Salesforce. */
  readonly rate?: Window | 'none';
  readonly daily?: number;
  /** How far Sforce-Limit-Info lags, up and down; default 20 calls. */
  readonly usageJitter?: number;
  /** Extra fields, or others under the same name. */
  readonly fields?: readonly FieldOptions[];
  /** Names of default fields that the org lacks. */
  readonly missingFields?: readonly string[];
  /** Names of fields that field-level security hides from the user. */
  readonly hiddenFields?: readonly string[];
  /** Names of fields that AccountHistory tracks; default none, as in a new org. */
  readonly trackedFields?: readonly string[];
  /** State and Country picklists: names by code; default off. */
  readonly countries?: Readonly<Record<string, string>>;
  /** For these picklists: a country's states, names by code; a country that is absent has none. */
  readonly states?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Several currencies: the org's own first. A record has its own in `CurrencyIsoCode`. Default: one currency. */
  readonly currencies?: readonly string[];
  readonly triggers?: readonly Trigger[];
  readonly personAccounts?: boolean;
  readonly pageSize?: number;
  /** How long a query can be continued. */
  readonly locatorMs?: number;
  /** A hidden field fails its record, or the whole call: not documented, so a provider must handle both. */
  readonly unknownField?: 'record' | 'call';
  /** A validation rule: its message for the values that a record would have. */
  readonly validationRule?: (values: Readonly<Record<string, PropertyValue>>) => string | undefined;
  /** A duplicate rule: `alert` lets a write pass that asks for it; `matches` are the ids of the records that it found. */
  readonly duplicateRule?: (values: Readonly<Record<string, PropertyValue>>) => Alert | Alert['action'] | undefined;
  /** Names and messages of the rules that the org lists; the two options above are their effects. */
  readonly listed?: {
    readonly validation?: readonly { readonly name: string; readonly message: string }[];
    readonly duplicate?: readonly string[];
  };
  /** False if the user lacks Customize Application: it cannot create fields or see validation rules. */
  readonly mayCustomize?: boolean;
  /** False if the user lacks Manage Profiles and Permission Sets. */
  readonly mayGrant?: boolean;
  /** What the user may do with accounts in addition to reading; default: everything. */
  readonly mayEdit?: boolean;
  readonly mayCreate?: boolean;
  readonly mayEditTasks?: boolean;
  readonly notesEnabled?: boolean;
  /** Values of a task's status, with the closed ones marked. */
  readonly taskStatuses?: readonly { readonly label: string; readonly closed: boolean }[];
  readonly organizationVisible?: boolean;
}

export interface Alert {
  readonly action: 'alert' | 'block';
  readonly matches: readonly string[];
}

/** State and rules; the org calls `written` after every change through the API. */
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
  /** Ids of records that an approval locks. */
  readonly approvals: Set<string>;
  readonly triggers: Triggers;
  storageFull: boolean;
  /** The remaining rows of open queries, by locator. */
  readonly locators: Map<string, { readonly rows: readonly object[]; readonly total: number; readonly until: number }>;
  readonly tables: Tables;
  readonly now: () => number;
  field(name: string): FieldDefinition | undefined;
  /** The values for `CrmEmulator.get`, blanks as null. */
  values(account: StoredAccount, names?: Iterable<string>): Record<string, PropertyValue>;
  written: (account: StoredAccount, names: readonly string[]) => void;
  /** Called with the ids of a read whose answer is ready, and of an update before any check. */
  read: (ids: readonly string[]) => void;
  arrived: (ids: readonly string[]) => void;
}

const TWO_HOURS_MS = 7_200_000;

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
    tables: filledTables(options, tokenOptions.organizationId, definitions.keys(), now),
    now,
    field: (name) => (hidden.has(name) ? undefined : definitions.get(name)),
    values: (account, names = definitions.keys()) =>
      Object.fromEntries([...names].map((name) => [name, shown(account, name, definitions.get(name)?.type)])),
    written: () => {},
    read: () => {},
    arrived: () => {},
  };
}

function filledTables(
  options: SalesforceEmulatorOptions,
  organizationId: string,
  fields: Iterable<string>,
  now: () => number,
): Tables {
  const tables = openTables(now);
  for (const name of fields) if (name.endsWith('__c')) listField(tables, name);
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

/** The value of one field as the API shows it, including those that Salesforce maintains. */
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
      // Salesforce stores it by the second.
      return salesforceTime(Math.floor(account.updatedAt / 1_000) * 1_000);
    default:
      return account.values[name] ?? null;
  }
}

/** A checkbox has no blank. */
const shown = (account: StoredAccount, name: string, type: string | undefined): PropertyValue =>
  fromSalesforce(rawValue(account, name), type) ?? (type === 'boolean' ? false : null);

export const salesforceTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '+0000');
