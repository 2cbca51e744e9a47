/** Every page of the route table on a store with much of everything: none reads a table that grows with the installation. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filledAddresses } from '../bench/addresses.ts';
import { fillStore } from '../bench/fill.ts';
import { startFixture } from '../support/fixture.ts';
import { ENGINES, newFolder, newStoreUrl } from '../support/stores.ts';
import { noteStatements } from './asked-statements.ts';
import { openJudge } from './statement-plans.ts';
import { adminAt } from './visitor.ts';

/** More than any page may read of one table. */
const MANY = 8_000;
/** So many that those that end soon are many, too. */
const OVERRIDES = 3 * MANY;
const SIZES = { links: MANY, decisions: MANY, waiting: MANY, overrides: OVERRIDES, monitors: 100 };
/** On PostgreSQL each is a call over the network. */
const MOST_STATEMENTS = 45;

describe.each(ENGINES)('pages on %s', (engine) => {
  it('read no whole table, and query the store seldom', async () => {
    const store = await newStoreUrl(engine);
    const secretKey = randomBytes(32);
    await fillStore(store, SIZES, secretKey);
    const { app } = await startFixture({
      ...{
        store,
        hasSettings: true,
        connections: { hubspot: { match: { property: 'cvr_number' } }, salesforce: false },
      },
      service: { register: { source: 'file', path: newFolder() }, secretKey: secretKey.toString('base64') },
    });
    const asked = noteStatements(app.adminUrl);
    const ida = await adminAt(app.adminUrl, app.store);
    const failed: string[] = [];
    for (const address of filledAddresses(SIZES)) {
      const { status } = await ida.get(address);
      if (status !== 200 && status !== 303) failed.push(`${address}: ${status}`);
    }
    expect(failed).toEqual([]);

    const often = [...Map.groupBy(asked, ({ page }) => page)].filter(
      ([, statements]) => statements.length > MOST_STATEMENTS,
    );
    expect(often.map(([page, statements]) => `${page}: ${statements.length}`)).toEqual([]);

    // The counts of a plan are kept with it.
    const counting = asked.filter(
      ({ page, sql }) => page.startsWith('/backfill') && sql.includes('from "scan"') && /\b(?:sum|count)\(/u.test(sql),
    );
    expect(counting).toEqual([]);

    const judge = await openJudge(engine, store);
    onTestFinished(() => judge.close());
    const excess: string[] = [];
    for (const statement of new Map(asked.map((each) => [each.sql, each])).values())
      for (const what of await judge.excessOf(statement)) excess.push(`${statement.page}: ${what}: ${statement.sql}`);
    expect(excess).toEqual([]);
  }, 120_000);
});
