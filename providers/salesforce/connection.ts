import type { Connection, ProviderContext } from '../provider.ts';
import { type Calls, type HttpVerb, loadClient } from './client/client.ts';
import { faultOf, SalesforceRefusal } from './client/errors.ts';
import type { SalesforceSettings } from './client/salesforce-settings.ts';
import { missingPermissions } from './permissions.ts';
import { changedAccounts } from './read/changes.ts';
import { checkAccount } from './read/check-account.ts';
import { readEdits } from './read/edits.ts';
import { toProperty } from './read/fields.ts';
import { findAccounts } from './read/find.ts';
import { readAccounts } from './read/read.ts';
import { scanAccounts } from './read/scan.ts';
import { openSchemas } from './read/schemas.ts';
import { createAccount } from './write/create.ts';
import { defineFields, removeFields } from './write/define.ts';
import { openNotes } from './write/notes.ts';
import { readParents, writeParent } from './write/parents.ts';
import { rulesOf } from './write/rules.ts';
import { updateAccounts } from './write/update.ts';

/** The contract's verbs over jsforce. A connection remembers the session and the types of the account's fields. */
export async function connectSalesforce(settings: SalesforceSettings, context: ProviderContext): Promise<Connection> {
  const bind = await loadClient(settings, context);
  const schemas = openSchemas();
  const verb: HttpVerb = async (signal, work) => {
    signal.throwIfAborted();
    try {
      return await work(bind(signal));
    } catch (error) {
      throw error instanceof SalesforceRefusal ? faultOf(error) : error;
    }
  };
  const fieldsFor = (calls: Calls) => ({ known: () => schemas.known(calls), fresh: () => schemas.fresh(calls) });

  return {
    check: (signal) => verb(signal, checkAccount),
    properties: (signal) => verb(signal, async (calls) => (await schemas.describe(calls)).map(toProperty)),
    read: async (ids, names, signal) =>
      ids.length === 0
        ? []
        : verb(signal, (calls) =>
            schemas.withFields(calls, names, (visible, types) => readAccounts(calls, ids, visible, types)),
          ),
    update: async (patches, signal) =>
      patches.length === 0 ? [] : verb(signal, (calls) => updateAccounts(calls, patches, fieldsFor(calls))),
    scan: (names, cursor, signal) =>
      verb(signal, (calls) =>
        schemas.withFields(calls, names, (visible, types) => scanAccounts(calls, visible, types, cursor)),
      ),
    changes: (names, cursor, signal) =>
      verb(signal, (calls) =>
        schemas.withFields(calls, names, (visible, types) =>
          changedAccounts(calls, { names: visible, schema: types }, cursor, context.now),
        ),
      ),
    find: (property, value, signal) =>
      verb(signal, (calls) =>
        schemas.withFields(calls, [property, 'Name'], (visible, types) =>
          findAccounts(calls, property, value, { names: visible, schema: types }),
        ),
      ),
    create: (properties, signal) => verb(signal, (calls) => createAccount(calls, properties, fieldsFor(calls))),
    defineProperties: (definitions, signal) =>
      verb(signal, async (calls) => {
        const defined = await defineFields(calls, definitions, await schemas.fresh(calls));
        if (defined.some(({ kind }) => kind === 'created')) await schemas.fresh(calls);
        return defined;
      }),
    removeProperties: async (names, signal) =>
      names.length === 0
        ? []
        : verb(signal, async (calls) => {
            const removed = await removeFields(calls, names);
            await schemas.fresh(calls);
            return removed;
          }),
    rules: (signal) => verb(signal, async (calls) => rulesOf(calls, await schemas.describe(calls))),
    missingRights: (rights, signal) => verb(signal, (calls) => missingPermissions(calls, rights, settings)),
    edits: async (ids, names, since, signal) =>
      ids.length === 0 || names.length === 0
        ? []
        : verb(signal, async (calls) => readEdits(calls, { ids, names, since }, await schemas.known(calls))),
    notes: openNotes(verb, settings),
    parents: {
      read: async (ids, signal) =>
        ids.length === 0 ? [] : verb(signal, async (calls) => readParents(calls, ids, await schemas.known(calls))),
      write: (change, signal) => verb(signal, (calls) => writeParent(calls, change, fieldsFor(calls))),
    },
  };
}
