/** A connection to one Salesforce org: the contract's verbs over the fenced client. */
import type { Connection, ProviderContext } from '../provider.ts';
import { changedAccounts } from './changes.ts';
import { checkAccount } from './check-account.ts';
import { type Calls, type HttpVerb, loadClient } from './client.ts';
import { createAccount } from './create.ts';
import { defineFields } from './define.ts';
import { faultOf, RefusedAnswer } from './errors.ts';
import { toProperty } from './fields.ts';
import { findAccounts } from './find.ts';
import { openNotes } from './notes.ts';
import { readParents, writeParent } from './parents.ts';
import { missingPermissions } from './permissions.ts';
import { readAccounts } from './read.ts';
import { rulesOf } from './rules.ts';
import { scanAccounts } from './scan.ts';
import { openSchemas } from './schemas.ts';
import type { SalesforceSettings } from './settings.ts';
import { updateAccounts } from './update.ts';

/** Loads the client and builds a connection. It remembers the session and the types of the account's fields. */
export async function connectSalesforce(settings: SalesforceSettings, context: ProviderContext): Promise<Connection> {
  const bind = await loadClient(settings, context);
  const schemas = openSchemas();
  const verb: HttpVerb = async (signal, work) => {
    signal.throwIfAborted();
    try {
      return await work(bind(signal));
    } catch (error) {
      throw error instanceof RefusedAnswer ? faultOf(error) : error;
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
          changedAccounts(calls, visible, types, cursor, context.now),
        ),
      ),
    find: (property, value, signal) =>
      verb(signal, (calls) =>
        schemas.withFields(calls, [property, 'Name'], (visible, types) =>
          findAccounts(calls, property, value, visible, types),
        ),
      ),
    create: (properties, signal) => verb(signal, (calls) => createAccount(calls, properties, fieldsFor(calls))),
    defineProperties: (definitions, signal) =>
      verb(signal, async (calls) => {
        const defined = await defineFields(calls, definitions, await schemas.fresh(calls));
        if (defined.some(({ kind }) => kind === 'created')) await schemas.fresh(calls);
        return defined;
      }),
    rules: (signal) => verb(signal, async (calls) => rulesOf(calls, await schemas.describe(calls))),
    missingRights: (rights, signal) => verb(signal, (calls) => missingPermissions(calls, rights, settings)),
    notes: openNotes(verb, settings),
    parents: {
      read: async (ids, signal) =>
        ids.length === 0 ? [] : verb(signal, async (calls) => readParents(calls, ids, await schemas.known(calls))),
      write: (change, signal) => verb(signal, (calls) => writeParent(calls, change, fieldsFor(calls))),
    },
  };
}
