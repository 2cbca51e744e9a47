/** The whole app with records in its CRMs that nobody linked yet, and people on the backfill's pages. */
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { createOperator, type Role } from '../../../src/runtime/operators/operators.ts';
import { type CrmName, type Fixture, type FixtureOptions, startFixture } from '../../support/fixture.ts';
import { newVisitor, type Visitor } from '../visitor.ts';

const NUMBER = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' } as const;
const NAME = { hubspot: 'name', salesforce: 'Name' } as const;

/** What a page says of the plan that it shows. */
export const revisionIn = (text: string): string => /name="revision" value="([^"]+)"/.exec(text)?.[1] ?? 'no revision';

/** The page once it holds these words. */
export async function reached(visitor: Visitor, path: string, words: string): Promise<string> {
  let text = '';
  await expect
    .poll(async () => {
      ({ text } = await visitor.get(path));
      return text;
    })
    .toContain(words);
  return text;
}

export interface House {
  readonly fixture: Fixture;
  /** Adds a record by its number, and returns its id. */
  add(crm: CrmName, number: string | null, name?: string): string;
  token(role: Role): Promise<string>;
  signedIn(role: Role): Promise<Visitor>;
  /** Scans on the page, and returns the plan's revision. */
  scan(visitor: Visitor, crm: CrmName): Promise<string>;
  /** Asks on the page what an apply would do; the address of the run, once that is shown. */
  preview(visitor: Visitor, crm: CrmName, fields?: Readonly<Record<string, string>>): Promise<string>;
  /** Stops the daemon if it is, and starts another one on its store. */
  restart(): Promise<App>;
  /** `action result` of what people did with backfills. */
  audit(): Promise<readonly string[]>;
  /** `entity origin state` by record id. */
  links(crm: CrmName): Promise<Readonly<Record<string, string>>>;
}

/** Starts it; all of it ends with the test. */
export async function startHouse(options: FixtureOptions = {}): Promise<House> {
  const match = (name: CrmName) => ({ match: { property: NUMBER[name] }, ...options.connections?.[name] });
  const connections = { hubspot: match('hubspot'), salesforce: match('salesforce') };
  const fixture = await startFixture({ ...options, connections });
  const { app } = fixture;
  let running = app;
  let people = 0;
  const token = async (role: Role): Promise<string> => {
    people += 1;
    return (await running.store.write((tx) => createOperator(tx, { name: `${role} ${people}`, role }, 1))) ?? '';
  };
  const revision = async (visitor: Visitor, crm: CrmName) => revisionIn((await visitor.get(`/backfill/${crm}`)).text);
  return {
    fixture,
    add: (crm, number, name = 'Opdigtet ApS') => fixture[crm].add({ [NAME[crm]]: name, [NUMBER[crm]]: number }),
    token,
    async signedIn(role) {
      const visitor = newVisitor(running.adminUrl);
      await visitor.signIn(await token(role));
      return visitor;
    },
    async scan(visitor, crm) {
      await visitor.get('/backfill');
      const asked = await visitor.post(`/backfill/${crm}/scan`, { revision: await revision(visitor, crm) });
      await reached(visitor, String(asked.headers['location']), 'Look at the plan');
      return revision(visitor, crm);
    },
    async preview(visitor, crm, fields = {}) {
      const asked = await visitor.post(`/backfill/${crm}/apply`, { revision: await revision(visitor, crm), ...fields });
      const path = String(asked.headers['location']);
      await reached(visitor, path, 'would be linked');
      return path;
    },
    async restart() {
      await running.close(0);
      const loaded = await checkConfig(JSON.parse(readFileSync(fixture.configFile, 'utf8')), fixture.configFile, {});
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
      const next = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
      onTestFinished(() => next.close(0));
      running = next;
      return next;
    },
    async audit() {
      const rows = await running.store.db
        .selectFrom('audit')
        .selectAll()
        .where('via', '=', 'page')
        .orderBy('id')
        .execute();
      return rows.flatMap(({ action, result }) => (action.startsWith('backfill.') ? `${action} ${result}` : []));
    },
    async links(crm) {
      const rows = await running.store.db.selectFrom('link').selectAll().where('provider', '=', crm).execute();
      return Object.fromEntries(rows.map((row) => [row.record_id, `${row.entity} ${row.origin} ${row.state}`]));
    },
  };
}
