/** `check` with credentials that may read and no more: what the connection needs and they lack is named, before a write. */
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import type { CrmName, Fixture, FixtureOptions } from '../support/fixture.ts';
import { startFixture } from '../support/fixture.ts';

interface Finding {
  readonly level: string;
  readonly subject: string;
  readonly found: string;
  readonly advice?: string;
}

const EVERYTHING = { notes: ['status'], parent: true };
const SCOPES = ['objects.companies', 'objects.contacts', 'schemas.companies'].flatMap((what) => [
  `crm.${what}.read`,
  `crm.${what}.write`,
]);
const READ_ONLY = SCOPES.filter((scope) => scope.endsWith('.read'));

async function checked(fixture: Fixture): Promise<readonly Finding[]> {
  const { stdout } = await fixture.cli('--json', 'check');
  return JSON.parse(stdout);
}

const missing = (findings: readonly Finding[], crm: CrmName): readonly string[] =>
  findings
    .filter(({ subject }) => subject === `${crm} rights`)
    .map(({ level, found, advice }) => `${level} ${found.replace(/^these credentials may not /u, '')} | ${advice}`);

const open = (options: FixtureOptions): Promise<Fixture> =>
  startFixture({ connections: { hubspot: EVERYTHING, salesforce: EVERYTHING }, ...options });

describe('check with a read-only token does not pass', () => {
  test('HubSpot: each scope that the configured connection needs is named, and nothing is written', async () => {
    const fixture = await open({
      hubspot: { scopes: READ_ONLY },
      connections: { hubspot: { ...EVERYTHING, hold: { property: 'no_such_hold' } } },
    });
    const id = fixture.hubspot.add({ name: 'Birk ApS' });
    const before = fixture.hubspot.get(id);
    const { code } = await fixture.cli('check');
    expect(code).toBe(1);
    const findings = await checked(fixture);
    expect(missing(findings, 'hubspot')).toEqual([
      expect.stringMatching(
        /^fail write companies: .*crm\.objects\.companies\.write.* https:\/\/app\.hubspot\.com\/service-keys$/u,
      ),
      expect.stringMatching(/^fail create and find notes.*crm\.objects\.contacts\.write/u),
      expect.stringMatching(/^fail set the parent.*crm\.objects\.companies\.write/u),
      expect.stringMatching(/^warn create companies: `transfer`.*crm\.objects\.companies\.write/u),
      expect.stringMatching(/^warn create properties: .*crm\.schemas\.companies\.write/u),
    ]);
    expect(fixture.hubspot.get(id)).toEqual(before);
  });

  test('HubSpot: a token with all scopes passes, and scopes that are not needed are not required', async () => {
    const whole = await open({});
    expect(missing(await checked(whole), 'hubspot')).toEqual([]);
    const without = SCOPES.filter((scope) => !scope.startsWith('crm.objects.contacts'));
    const quiet = await startFixture({ hubspot: { scopes: without } });
    expect(missing(await checked(quiet), 'hubspot')).toEqual([]);
    expect(quiet.hubspot.calls.filter(({ path }) => path.includes('/notes'))).toEqual([]);
  });

  test('HubSpot: a token that may add notes but not find them is refused, too', async () => {
    const fixture = await open({
      hubspot: { scopes: SCOPES.filter((scope) => scope !== 'crm.objects.contacts.read') },
    });
    expect(missing(await checked(fixture), 'hubspot')).toEqual([
      expect.stringMatching(/^fail create and find notes.*crm\.objects\.contacts\.read/u),
    ]);
  });

  test('Salesforce: missing rights on accounts, parents and tasks are named', async () => {
    const fixture = await open({ salesforce: { mayEdit: false, mayCreate: false, mayEditTasks: false } });
    const { code } = await fixture.cli('check');
    expect(code).toBe(1);
    expect(missing(await checked(fixture), 'salesforce')).toEqual([
      expect.stringMatching(/^fail write companies: .*Edit on Account/u),
      expect.stringMatching(/^fail create and find notes.*Edit Tasks/u),
      expect.stringMatching(/^fail set the parent.*ParentId/u),
      expect.stringMatching(/^warn create companies.*Create on Account/u),
    ]);
  });

  test('Salesforce: a parent field that the user may not edit is named', async () => {
    const fixture = await open({
      salesforce: { fields: [{ name: 'ParentId', label: 'Parent Account ID', type: 'reference', updateable: false }] },
    });
    expect(missing(await checked(fixture), 'salesforce')).toEqual([
      expect.stringMatching(/^fail set the parent.*ParentId/u),
    ]);
  });

  test('Salesforce: notes as ContentNote require that Notes is enabled', async () => {
    const fixture = await startFixture({
      connections: { salesforce: { ...EVERYTHING, noteAs: 'ContentNote' } },
      salesforce: { notesEnabled: false },
    });
    expect(missing(await checked(fixture), 'salesforce')).toEqual([
      expect.stringMatching(/^fail create and find notes.*enable Notes in Setup/u),
    ]);
  });
});

describe('credentials are tried even while the account is paused', () => {
  const pause = (fixture: Fixture) => {
    const now = Date.now;
    return createRateLimiter({ store: fixture.app.store, key: 'hubspot', budgets: {}, now }).block(
      now() + 3_600_000,
      'HubSpot refused the access token',
      'auth',
    );
  };
  const about = (findings: readonly Finding[]) =>
    findings.filter(({ subject }) => subject.startsWith('hubspot')).map(({ level, found }) => `${level} ${found}`);

  test('a token that works again is reported, with the command that ends the pause', async () => {
    const fixture = await open({});
    await pause(fixture);
    const findings = await checked(fixture);
    expect(about(findings)).toEqual([
      expect.stringMatching(/^warn paused until .*HubSpot refused the access token; .* accepts the credentials now$/u),
    ]);
    expect(findings.find(({ subject }) => subject === 'hubspot')?.advice).toContain('review retry account/hubspot');
  });

  test("a token that is still refused fails, with the CRM's current answer", async () => {
    const fixture = await open({});
    await pause(fixture);
    fixture.hubspot.revoke();
    expect(about(await checked(fixture))).toEqual([
      expect.stringMatching(/^fail paused until .*; tried now: HubSpot refused the access token; put a valid one/u),
    ]);
  });

  test('a token that may read and not write fails, though it is accepted', async () => {
    const fixture = await open({ hubspot: { scopes: READ_ONLY } });
    await pause(fixture);
    expect(about(await checked(fixture))).toEqual([
      expect.stringMatching(/^warn paused until .* accepts the credentials now$/u),
      expect.stringMatching(/^fail these credentials may not write companies/u),
      expect.stringMatching(/^fail these credentials may not create and find notes/u),
      expect.stringMatching(/^fail these credentials may not set the parent/u),
      expect.stringMatching(/^warn these credentials may not create companies/u),
    ]);
  });
});
