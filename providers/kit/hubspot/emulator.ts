/**
 * An emulated HubSpot account on loopback: companies, their properties with history, batches, search, merges, limits,
 * notes, associations between companies, owners, webhooks. Not emulated: archiving and merging through the API, tasks,
 * other objects.
 */

import { toHubspot } from '../../hubspot/read/values.ts';
import type { PropertyValue } from '../../provider.ts';
import { type CrmEmulator, serveEmulator } from '../emulator/emulator.ts';
import { DEFAULT_TOKEN, type HubspotAccount, openAccount } from './account/account.ts';
import { define, type EmulatedProperty, type PropertyOptions } from './account/definitions.ts';
import { plainText } from './account/notes.ts';
import type { EmulatedWebhookOptions, HubspotEmulatorOptions } from './account/options.ts';
import { APP, SOMEBODY } from './account/people.ts';
import type { EmulatedCompany } from './account/records.ts';
import { invalidValues, storedText } from './account/validate.ts';
import { parentOf } from './routes/associations.ts';
import { answerRequest } from './routes/routes.ts';
import { openWebhooks } from './routes/webhooks.ts';

export interface HubspotEmulator extends CrmEmulator {
  /** Ends the token: every call answers 401 until `reinstate`. */
  revoke(): void;
  reinstate(): void;
  /** Posts events from now on. */
  subscribe(webhook: EmulatedWebhookOptions): void;
  /** Resolves when every event was posted or given up. */
  webhooksSettled(): Promise<void>;
  /** Labels a pair of companies as a person would: 14 makes `to` the parent of `from`. */
  associate(from: string, to: string, labels: readonly number[]): void;
  labels(from: string, to: string): readonly number[];
  /** Redefines a property while the account is in use; values that no longer fit are lost. */
  changeProperty(options: PropertyOptions): void;
  /** Archives a property; the returned function restores it, with its values. */
  archiveProperty(name: string): () => void;
}

/** Starts an account in about 1 ms. It holds 250,000 companies of ten short properties in less than 200 MB. */
export async function startHubspotEmulator(options: HubspotEmulatorOptions = {}): Promise<HubspotEmulator> {
  const account = openAccount(options);
  const served = await (options.serve ?? serveEmulator)((request) => answerRequest(account, request), options);
  const webhooks = openWebhooks(account);
  account.happened = webhooks.notify;
  if (options.webhook !== undefined) webhooks.subscribe(options.webhook);
  const token = options.token ?? DEFAULT_TOKEN;
  const rate =
    options.rate === 'none' ? { calls: 1_000_000, perMs: 10_000 } : (options.rate ?? { calls: 190, perMs: 10_000 });

  const live = (id: string): EmulatedCompany => {
    const company = account.companies.find(id);
    if (company === undefined) throw new Error(`the emulated HubSpot has no company ${id}`);
    return company;
  };
  const texts = (
    company: EmulatedCompany | undefined,
    properties: Readonly<Record<string, PropertyValue>>,
  ): Record<string, string> => {
    const entries = Object.entries(properties).map(([name, value]) => [name, toHubspot(value)] as const);
    // A person on HubSpot's own pages meets the same checks, except the rules for the API.
    const [fault] = invalidValues(account, company, Object.fromEntries(entries), 'v3');
    if (fault !== undefined) throw new Error(`the emulated HubSpot refuses ${fault.name}: ${fault.message}`);
    return Object.fromEntries(entries.map(([name, text]) => [name, storedText(account.definitions.get(name), text)]));
  };

  const emulator: HubspotEmulator = {
    name: 'hubspot',
    url: served.url,
    settings: { accessToken: token, baseUrl: served.url, rate: { calls: rate.calls, perSeconds: rate.perMs / 1_000 } },
    add: (properties) => account.create(texts(undefined, properties), account.people.sourceOf(SOMEBODY)).id,
    get(id) {
      const company = account.companies.find(id);
      return company === undefined ? undefined : account.values(company);
    },
    edit(id, properties, by = SOMEBODY) {
      const company = live(id);
      account.write(company, texts(company, properties), account.people.sourceOf(by));
    },
    remove: (id) => account.remove(live(id)),
    merge: (primary, other) => account.merge(live(primary), live(other)).id,
    restore(id) {
      if (!account.restore(id)) throw new Error(`the emulated HubSpot cannot restore company ${id}`);
    },
    notes: (id) => account.notes.on(id).map((note) => plainText(note.properties.hs_note_body ?? '')),
    parent: (id) => parentOf(account, id),
    fault: served.fault,
    calls: served.calls,
    onWrite: undefined,
    onRead: undefined,
    onArrival: undefined,
    async close() {
      webhooks.close();
      await served.close();
    },
    subscribe: webhooks.subscribe,
    webhooksSettled: webhooks.settled,
    associate: (from, to, labels) => account.associations.put(live(from).id, live(to).id, labels),
    labels: (from, to) => [...(account.associations.of(from).get(to) ?? [])],
    ...definitionsOf(account),
    revoke: () => {
      account.token = undefined;
    },
    reinstate: () => {
      account.token = token;
    },
  };
  account.read = (ids) => emulator.onRead?.(ids);
  account.arrived = (ids) => emulator.onArrival?.(ids);
  account.written = (id, names) => {
    const company = account.companies.find(id);
    if (company !== undefined) emulator.onWrite?.(id, account.values(company, names));
  };
  return emulator;
}

/** An administrator's changes to the account's properties. */
const definitionsOf = (account: HubspotAccount): Pick<HubspotEmulator, 'changeProperty' | 'archiveProperty'> => ({
  changeProperty: (options) => redefine(account, options),
  archiveProperty(name) {
    const { definitions, archived } = account;
    const definition = definitionOf(definitions, name);
    definitions.delete(name);
    archived.add(name);
    return () => {
      definitions.set(name, definition);
      archived.delete(name);
    };
  },
});

function definitionOf(definitions: HubspotAccount['definitions'], name: string): EmulatedProperty {
  const found = definitions.get(name);
  if (found === undefined) throw new Error(`the emulated HubSpot has no property ${name}`);
  return found;
}

function redefine(account: HubspotAccount, options: PropertyOptions): void {
  const { name } = options;
  const old = definitionOf(account.definitions, name);
  account.definitions.set(name, { ...define({ label: old.label, ...options }), groupName: old.groupName });
  for (const company of account.companies.all()) {
    const held = company.properties[name] ?? '';
    const faults = invalidValues(account, company, { [name]: held }, 'v3');
    if (faults.some(({ error }) => error !== 'READ_ONLY_VALUE')) account.companies.write(company, { [name]: '' }, APP);
  }
}
