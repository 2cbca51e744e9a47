/**
 * An emulated Salesforce org on loopback: accounts with field history, describe, collections, queries, sessions,
 * merges, limits, tasks, notes, custom fields and permission sets. Not emulated: upserting and deleting through the
 * API, getDeleted, Bulk, other objects.
 */

import type { PropertyValue } from '../../provider.ts';
import { textOf } from '../../salesforce/client/json.ts';
import { type CrmEmulator, serveEmulator } from '../emulator/emulator.ts';
import { writeAs } from './field-history.ts';
import type { StoredAccount } from './org/accounts.ts';
import { moveActivities, notesOn } from './org/activities.ts';
import { define, type FieldOptions } from './org/definitions.ts';
import { type Org, openOrg, rawValue, type SalesforceEmulatorOptions } from './org/org.ts';
import type { Trigger } from './org/triggers.ts';
import { SOMEBODY } from './org/users.ts';
import { answerRequest } from './routes.ts';
import { misfit, stored, validate, withCodes } from './validate.ts';

export interface SalesforceEmulator extends CrmEmulator {
  /** Ends all sessions, as two hours without a call do. */
  expireSessions(): void;
  /** Refuses sessions and token requests until `reinstate`. */
  revoke(): void;
  reinstate(): void;
  /** Issues sessions, and refuses them. */
  refuseSessions(on: boolean): void;
  /** Moves the org to another instance: its address changes, sessions end. */
  move(): void;
  /** Issues tokens for another org from now on. */
  answerForOrganization(id: string): void;
  /** Keeps a record locked for this many tries. */
  lockRow(id: string, tries: number): void;
  /** Deletes for good, from the recycle bin, too. */
  purge(id: string): void;
  /** Hides a field from the user, as field-level security does; the returned function shows it again. */
  hideField(name: string): () => void;
  /** Redefines a field while the org is in use; values that no longer fit are lost. */
  changeField(options: FieldOptions): void;
  /** Begins or ends an approval, which locks a record. */
  approve(id: string, locks: boolean): void;
  /** Refuses new records until there is room again. */
  fillStorage(full: boolean): void;
  /** Adds an Apex trigger; the returned function removes it. */
  trigger(trigger: Trigger): () => void;
  /** Texts that no error may show. */
  readonly secrets: readonly string[];
}

/** The settings of a client that uses the rate of the org; its own rate by default. */
const clientRate = ({ rate }: SalesforceEmulatorOptions): object => {
  if (rate === undefined) return {};
  return { rate: rate === 'none' ? UNPACED : { calls: rate.calls, perSeconds: rate.perMs / 1_000 } };
};

const UNPACED = { calls: 1_000_000, perSeconds: 10 };

/** Starts an org in about 1 ms, and 100 ms for the key of the JWT flow. */
export async function startSalesforceEmulator(options: SalesforceEmulatorOptions = {}): Promise<SalesforceEmulator> {
  const org = openOrg(options);
  let loginUrl = '';
  const served = await (options.serve ?? serveEmulator)((request) => answerRequest(org, request, loginUrl), options);
  loginUrl = served.url;

  const any = (id: string) => findAccount(org, id);
  const live = (id: string) => findLive(org, id);
  const emulator: SalesforceEmulator = {
    name: 'salesforce',
    url: served.url,
    settings: { loginUrl: served.url, auth: org.tokens.auth, ...clientRate(options) },
    secrets: org.tokens.secrets,
    add: (properties) => addByPerson(org, properties),
    get(id) {
      const account = org.accounts.find(id);
      return account === undefined || account.deleted ? undefined : org.values(account);
    },
    edit(id, properties, by = SOMEBODY) {
      const account = live(id);
      writeAs(org, account, valuesByPerson(org, account, properties), org.users.idOf(by));
    },
    remove: (id) => org.accounts.remove(live(id)),
    merge(primary, other) {
      const survivor = live(primary);
      const loser = live(other);
      org.accounts.remove(loser, survivor.id);
      moveActivities(org, loser.id, survivor.id);
      for (const child of org.accounts.ordered())
        if (child.values.ParentId === loser.id) org.accounts.write(child, { ParentId: survivor.id });
      return survivor.id;
    },
    restore: (id) => org.accounts.restore(any(id)),
    notes: (id) => notesOn(org, any(id).id),
    parent: (id) => textOf(rawValue(live(id), 'ParentId')) ?? null,
    purge: (id) => org.accounts.purge(any(id)),
    fault: served.fault,
    calls: served.calls,
    onWrite: undefined,
    onRead: undefined,
    onArrival: undefined,
    close: served.close,
    expireSessions: org.tokens.expire,
    revoke: () => org.tokens.revoke(true),
    reinstate: () => org.tokens.revoke(false),
    refuseSessions: org.tokens.refuse,
    move: org.tokens.move,
    answerForOrganization: org.tokens.answerFor,
    lockRow: (id, tries) => void org.locks.set(any(id).id, tries),
    hideField(name) {
      org.hidden.add(name);
      return () => void org.hidden.delete(name);
    },
    changeField: (changed) => redefine(org, changed),
    approve(id, locks) {
      if (locks) org.approvals.add(any(id).id);
      else org.approvals.delete(any(id).id);
    },
    fillStorage(full) {
      org.storageFull = full;
    },
    trigger: org.triggers.add,
  };
  org.read = (ids) => emulator.onRead?.(ids);
  org.arrived = (ids) => emulator.onArrival?.(ids);
  org.written = (account, names) => emulator.onWrite?.(account.id, org.values(account, names));
  return emulator;
}

function addByPerson(org: Org, properties: Readonly<Record<string, PropertyValue>>): string {
  const account = org.accounts.create(valuesByPerson(org, undefined, { Name: null, ...properties }));
  account.modifiedById = org.users.idOf(SOMEBODY);
  return account.id;
}

function redefine(org: Org, options: FieldOptions): void {
  const { name } = options;
  const old = org.definitions.get(name);
  if (old === undefined) throw new Error(`the emulated Salesforce has no field ${name}`);
  const field = define({ label: old.label, ...options });
  org.definitions.set(name, field);
  for (const account of org.accounts.ordered())
    if (misfit(field, rawValue(account, name))) org.accounts.write(account, { [name]: null });
}

function findAccount(org: Org, id: string): StoredAccount {
  const account = org.accounts.find(id);
  if (account === undefined) throw new Error(`the emulated Salesforce has no account ${id}`);
  return account;
}

function findLive(org: Org, id: string): StoredAccount {
  const account = findAccount(org, id);
  if (account.deleted) throw new Error(`the account ${id} of the emulated Salesforce is deleted`);
  return account;
}

/** The stored values of a person's edit: the same checks apply, but a person may confirm an alert. */
function valuesByPerson(
  org: Org,
  account: StoredAccount | undefined,
  properties: Readonly<Record<string, PropertyValue>>,
): Record<string, PropertyValue> {
  const values = Object.entries(properties).map(([name, value]) => {
    const field = org.definitions.get(name);
    if (field === undefined || misfit(field, value))
      throw new Error(`the emulated Salesforce does not take this value for ${name}`);
    return [name, stored(field, value)] as const;
  });
  const [error] = validate(org, account, Object.fromEntries(values), true);
  if (error !== undefined) throw new Error(`the emulated Salesforce refuses ${error.statusCode}: ${error.message}`);
  return withCodes(org, Object.fromEntries(values));
}
