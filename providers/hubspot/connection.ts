import { type Account, type Connection, type ProviderContext, ProviderError } from '../provider.ts';
import { MERGED_IDS } from './client/batch.ts';
import { type Apis, loadClient } from './client/client.ts';
import { faultOf, HubspotRefusal } from './client/faults.ts';
import type { HubspotSettings } from './client/hubspot-settings.ts';
import { openAuthors } from './read/authors.ts';
import { readChanges } from './read/changes.ts';
import { readEdits } from './read/edits.ts';
import { findHolders } from './read/holders.ts';
import { toProperty } from './read/properties.ts';
import { readCompanies } from './read/read.ts';
import { openSchema } from './read/schema.ts';
import { missingScopes } from './scopes.ts';
import { createCompany } from './write/create.ts';
import { defineAll, removeAll } from './write/define.ts';
import { addNote, findNote } from './write/notes.ts';
import { readParents, writeParent } from './write/parents.ts';
import { readRules } from './write/rules.ts';
import { updateCompanies } from './write/update.ts';

const SCAN_PAGE = 100;

/** The contract's verbs over HubSpot's client. It remembers time zone, property types and users' names. */
export async function connectHubspot(settings: HubspotSettings, { http, now }: ProviderContext): Promise<Connection> {
  let timeZone: string | undefined;
  let currency: string | undefined;
  const schema = openSchema();
  const authors = openAuthors(settings.accessToken, now);
  const clock = () => ({ now: now(), timeZone });
  const bind = await loadClient(settings, http, clock);

  const verb = async <T>(signal: AbortSignal, work: (apis: Apis) => Promise<T>): Promise<T> => {
    try {
      return await work(bind(signal));
    } catch (error) {
      throw error instanceof HubspotRefusal ? faultOf(error, clock()) : error;
    }
  };

  return {
    check: (signal) =>
      verb(signal, async (apis) => {
        const { body, headers } = await apis.get('/account-info/v3/details');
        timeZone = text(body.timeZone);
        currency = text(body.companyCurrency);
        return accountOf(body, headers);
      }),
    properties: (signal) =>
      verb(signal, async (apis) => (await schema.read(apis)).map((each) => toProperty(each, currency))),
    read: async (ids, names, signal) =>
      ids.length === 0
        ? []
        : verb(signal, async (apis) => readCompanies(apis, ids, names, await schema.valuesOf(apis, names))),
    update: async (patches, signal) =>
      patches.length === 0 ? [] : verb(signal, (apis) => updateCompanies(apis, patches, schema)),
    scan: (names, cursor, signal) =>
      verb(signal, async (apis) => {
        const toValues = await schema.valuesOf(apis, names);
        const properties = [...new Set([...names, MERGED_IDS])];
        const page = await apis.companies.getPage(SCAN_PAGE, cursor, properties, undefined, undefined, false);
        const records = page.results.map(({ id, properties: texts }) => ({ id, properties: toValues(texts) }));
        const after = page.paging?.next?.after;
        return after === undefined ? { records } : { records, cursor: after };
      }),
    changes: (names, cursor, signal) =>
      verb(signal, (apis) => readChanges(apis, schema, { names, cursor, now: now() })),
    find: (property, value, signal) => verb(signal, (apis) => findHolders(apis, schema, property, value)),
    create: (properties, signal) => verb(signal, (apis) => createCompany(apis, properties)),
    defineProperties: async (definitions, signal) =>
      definitions.length === 0 ? [] : verb(signal, (apis) => defineAll(apis, schema, definitions)),
    removeProperties: async (names, signal) =>
      names.length === 0 ? [] : verb(signal, (apis) => removeAll(apis, schema, names)),
    rules: (signal) => verb(signal, (apis) => readRules(apis, schema)),
    missingRights: (rights, signal) => verb(signal, (apis) => missingScopes(apis, rights)),
    edits: async (ids, names, since, signal) =>
      ids.length === 0 || names.length === 0
        ? []
        : verb(signal, async (apis) =>
            readEdits(apis, { ids, names, since }, await schema.valuesOf(apis, names), authors),
          ),
    notes: {
      find: (recordId, marker, _since, signal) => verb(signal, (apis) => findNote(apis, recordId, marker)),
      add: (note, signal) => verb(signal, (apis) => addNote(apis, note)),
    },
    parents: {
      read: (ids, signal) => verb(signal, (apis) => readParents(apis, ids)),
      write: (change, signal) => verb(signal, (apis) => writeParent(apis, change)),
    },
  };
}

function accountOf(body: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>>): Account {
  const id = String(body.portalId ?? '');
  if (id === '') throw new ProviderError('unavailable', 'HubSpot gave the details of the account without its id');
  const left = headers['x-hubspot-ratelimit-daily-remaining'];
  const notes = [
    note('account type', text(body.accountType)),
    note('time zone', text(body.timeZone)),
    note('data hosted in', text(body.dataHostingLocation)),
    note('calls left today, shared by all apps of the account', left),
  ];
  const currency = text(body.companyCurrency);
  return { id, name: `HubSpot account ${id}`, notes: notes.filter((line) => line !== undefined), currency };
}

const note = (what: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${what}: ${value}`;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
