/** The provider for My CRM: data and a few verbs. Importing it opens nothing. */
import { defineProvider } from 'cvrsync/provider';
import { connect } from './connection.ts';
import { Settings } from './settings.ts';

export const myCrm = defineProvider({
  name: 'my-crm',
  // The version of the contract that this file was written for: cvrsync refuses a provider that it would misread.
  contract: '2.0.0',
  about: 'My CRM: companies of one account',
  settings: Settings,
  // The default mapping of the register's fields. tracked: never overwrite what a person wrote.
  preset: [
    { field: 'name', property: 'title', policy: 'tracked' },
    { field: 'phone', property: 'phone', policy: 'tracked' },
    { field: 'email', property: 'email', policy: 'tracked' },
    { field: 'purpose', property: 'about', policy: 'tracked' },
    { field: 'employees', property: 'staff', policy: 'tracked' },
  ],
  limits: ({ callsPerSecond }) => ({
    batch: { read: 50, update: 50 },
    concurrency: 4,
    budgets: { default: { calls: callsPerSecond, perMs: 1_000 } },
  }),
  // The one form of a record's id, however people and exports spell it: links store and compare it.
  canonicalId: (text) =>
    /^\d+$/.test(text) ? { kind: 'id', id: text } : { kind: 'none', reason: 'an id of My CRM is a number' },
  connect,
});
