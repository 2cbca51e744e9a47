/** A small story in the whole app, for pages to tell: a company in both CRMs, renamed, with a board, and an edit that is kept. */
import { createOperator, type Role } from '../../src/runtime/operators/operators.ts';
import { type CrmName, type Fixture, type FixtureOptions, startFixture } from '../support/fixture.ts';
import { newVisitor, type Visitor } from './visitor.ts';

export const COMPANY = 'CVR-1-12345674';
/** What a stranger may call a company. */
export const HOSTILE = 'Birk <script>alert(1)</script> & "Søn" ApS';
export const PERSON = 'Skitse Mønstergaard';

export interface Story {
  readonly fixture: Fixture;
  readonly records: Readonly<Record<CrmName, string>>;
  /** The token of an operator with this role. */
  token(role: Role): Promise<string>;
  signedIn(role: Role): Promise<Visitor>;
}

/** The token of an operator with this role. */
export const tokenOf = async ({ app }: Pick<Fixture, 'app'>, role: Role): Promise<string> =>
  (await app.store.write((tx) => createOperator(tx, { name: `the ${role}`, role }, Date.now()))) ?? '';

/** Plays it until nothing is due; all of it ends with the test. */
export async function playStory(options: FixtureOptions = {}): Promise<Story> {
  const fixture = await startFixture(options);
  const { app } = fixture;
  const records = {
    hubspot: await fixture.addLinked('hubspot', COMPANY, { name: 'Birk ApS', phone: '+4510203040' }),
    salesforce: await fixture.addLinked('salesforce', COMPANY, { Name: 'Birk ApS', Phone: '+4510203040' }),
  };
  const member = { entityId: 'CVR-3-4000000001', name: PERSON, type: 'Person' };
  await fixture.post({
    entityId: COMPANY,
    timestamp: '2026-03-01T09:00:00.000Z',
    updates: {
      name: { before: 'Birk ApS', after: HOSTILE },
      phoneNumber: { before: '10203040', after: '20304050' },
      board: { added: [member], removed: [] },
    },
  });
  await fixture.settled();
  fixture.hubspot.edit(records.hubspot, { phone: '+4599999999' });
  await fixture.post({
    entityId: COMPANY,
    timestamp: '2026-03-02T09:00:00.000Z',
    updates: { phoneNumber: { before: '20304050', after: '30405060' } },
  });
  await fixture.settled();
  const token = (role: Role): Promise<string> => tokenOf(fixture, role);
  return {
    fixture,
    records,
    token,
    async signedIn(role) {
      const visitor = newVisitor(app.adminUrl);
      await visitor.signIn(await token(role));
      return visitor;
    },
  };
}
