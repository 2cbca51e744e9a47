/** The whole app with records in its CRMs that nobody linked yet, and people on the backfill's pages. */
import { createOperator, type Role } from '../../../src/runtime/operators/operators.ts';
import { type CrmName, type Fixture, type FixtureOptions, startFixture } from '../../support/fixture.ts';
import { newVisitor, type Visitor } from '../visitor.ts';

const NUMBER = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' } as const;
const NAME = { hubspot: 'name', salesforce: 'Name' } as const;

export interface House {
  readonly fixture: Fixture;
  /** Adds a record by its number, and returns its id. */
  add(crm: CrmName, number: string | null, name?: string): string;
  token(role: Role): Promise<string>;
  signedIn(role: Role): Promise<Visitor>;
  /** `entity origin state` by record id. */
  links(crm: CrmName): Promise<Readonly<Record<string, string>>>;
}

/** Starts it; all of it ends with the test. */
export async function startHouse(options: FixtureOptions = {}): Promise<House> {
  const match = (name: CrmName) => ({ match: { property: NUMBER[name] }, ...options.connections?.[name] });
  const connections = { hubspot: match('hubspot'), salesforce: match('salesforce') };
  const fixture = await startFixture({ ...options, connections });
  const { app } = fixture;
  const token = async (role: Role): Promise<string> =>
    (await app.store.write((tx) => createOperator(tx, { name: `the ${role}`, role }, Date.now()))) ?? '';
  return {
    fixture,
    add: (crm, number, name = 'Opdigtet ApS') => fixture[crm].add({ [NAME[crm]]: name, [NUMBER[crm]]: number }),
    token,
    async signedIn(role) {
      const visitor = newVisitor(app.adminUrl);
      await visitor.signIn(await token(role));
      return visitor;
    },
    async links(crm) {
      const rows = await app.store.db.selectFrom('link').selectAll().where('provider', '=', crm).execute();
      return Object.fromEntries(rows.map((row) => [row.record_id, `${row.entity} ${row.origin} ${row.state}`]));
    },
  };
}
