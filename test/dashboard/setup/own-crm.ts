/** A plugin as others write one, whose settings are nested, secret and chosen from lists. */
import Type from 'typebox';
import { CONTRACT_VERSION, type Connection, defineProvider } from '../../../providers/provider.ts';

const nothing = async () => [];

const connection: Connection = {
  check: async () => ({ id: '7', name: 'Own CRM', notes: [] }),
  properties: async () => [{ name: 'title', label: 'Title', type: 'string', writable: true }],
  read: async (ids) => ids.map((id) => ({ id, kind: 'gone' })),
  update: nothing,
  scan: async () => ({ records: [] }),
};

export const provider = defineProvider({
  name: 'own-crm',
  contract: CONTRACT_VERSION,
  about: 'A CRM of our own',
  settings: Type.Object({
    tenant: Type.String({ minLength: 1, description: 'Name of the tenant.' }),
    region: Type.Union([Type.Literal('eu'), Type.Literal('us')], { default: 'eu', description: 'Where it runs.' }),
    login: Type.Object({ user: Type.String({ minLength: 1 }), pinCode: Type.String({ minLength: 1, secret: true }) }),
    proof: Type.Union([
      Type.Object({ kind: Type.Literal('none') }),
      Type.Object({ kind: Type.Literal('signed'), signingKey: Type.String({ minLength: 1, secret: true }) }),
    ]),
    pageSize: Type.Integer({ minimum: 1, default: 50 }),
    labels: Type.Array(Type.String(), { default: [] }),
    isTest: Type.Boolean({ default: false }),
  }),
  preset: [{ field: 'name', property: 'title', policy: 'tracked' }],
  limits: () => ({
    batch: { read: 10, update: 10 },
    concurrency: 1,
    budgets: { default: { calls: 100, perMs: 1_000 } },
  }),
  connect: async () => connection,
});
