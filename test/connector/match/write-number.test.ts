/** The number of an accepted match: written by the daemon into the property by which records are found. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALL_PROPERTIES, clearOverride, setOverride } from '../../../src/connector/overrides/override.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type Fixture, startFixture } from '../../support/fixture.ts';
import { ENGINES, newFolder } from '../../support/stores.ts';

const A = cvrNumber(1);
const CRMS = [
  { crm: 'hubspot', match: 'cvr_number', nordlys: { name: 'Nordlys Møbler', address: 'Ringvej 1', zip: '8000' } },
  {
    crm: 'salesforce',
    match: 'CVR_Number__c',
    nordlys: { Name: 'Nordlys Møbler', BillingStreet: 'Ringvej 1', BillingPostalCode: '8000' },
  },
] as const;
// Each engine and each CRM once: neither knows of the other.
const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));

describe.each(CASES)('an accepted match in $crm on $engine', ({ crm, engine, match, nordlys }) => {
  /** A record without a number whose match is in a plan. */
  async function planned(): Promise<{ fixture: Fixture; id: string; plan: string; apply: () => Promise<void> }> {
    const fixture = await startFixture({ engine, connections: { [crm]: { match: { property: match } } } });
    const id = fixture[crm].add(nordlys);
    const folder = newFolder();
    const companies = path.join(folder, 'companies.csv');
    writeFileSync(companies, `number,name,street,postalCode\n${A},Nordlys Møbler ApS,Ringvej 1,8000\n`);
    const plan = path.join(folder, 'plan.csv');
    expect((await fixture.cli('match', 'index', companies)).code).toBe(0);
    expect((await fixture.cli('match', crm, '--plan', plan, '--link-certain', '--yes')).stdout).toContain(
      '1 line says link',
    );
    const apply = async () => {
      await fixture.cli('match', crm, '--apply', plan);
      await fixture.settled();
    };
    return { fixture, id, plan, apply };
  }

  const number = (fixture: Fixture, id: string): unknown => fixture[crm].get(id)?.[match] ?? null;

  test('writes the number, is recorded, and can be undone', async () => {
    const { fixture, id, apply } = await planned();
    await apply();
    expect(number(fixture, id)).toBe(A);
    expect(await fixture.history(id)).toMatchObject([
      { field: 'cvrNumber', property: match, rule: 'blank', outcome: 'written', now: A },
    ]);
    expect((await fixture.cli('undo', '--yes', '--entity', `CVR-1-${A}`)).code).toBe(0);
    await fixture.settled();
    expect(number(fixture, id)).toBe(null);
  });

  test('is undone with its whole plan, including the link and the writes', async () => {
    const { fixture, id, plan, apply } = await planned();
    const asked = ['match', 'undo', crm, plan];
    const early = await fixture.cli(...asked, '--yes');
    expect(early.stdout).toBe(
      'Unlinked 0 records and restored 0 values.\nLeft alone 1 record that is not linked by this plan.\n',
    );
    await apply();
    expect(number(fixture, id)).toBe(A);
    expect((await fixture.cli(...asked)).stderr).toContain('cvrsync cannot ask here: add --yes');
    const undone = await fixture.cli(...asked, '--yes');
    expect(undone.stdout).toMatch(/^Unlinked 1 record and restored \d+ values?\.\n$/u);
    await fixture.settled();
    expect(number(fixture, id)).toBe(null);
    expect((await fixture.cli('links', '--state', 'active')).stdout).not.toContain(id);
    expect((await fixture.cli(...asked, '--yes')).stdout).toContain('Unlinked 0 records and restored 0 values.');
  });

  test('keeps a number that somebody wrote after the link', async () => {
    const { fixture, id, apply } = await planned();
    const theirs = cvrNumber(2);
    const all = { provider: crm, recordId: id, property: ALL_PROPERTIES };
    const hold = { kind: 'hold', once: false, until: null, reason: null } as const;
    await fixture.app.store.write((tx) => setOverride(tx, all, hold, Date.now()));
    await apply();
    expect(number(fixture, id)).toBe(null);
    fixture[crm].edit(id, { [match]: theirs });
    await fixture.app.store.write((tx) => clearOverride(tx, all, 'hold', Date.now()));
    await fixture.settled();
    expect(number(fixture, id)).toBe(theirs);
  });

  test('does not write the number again after a person cleared it', async () => {
    const { fixture, id, apply } = await planned();
    await apply();
    fixture[crm].edit(id, { [match]: null });
    await fixture.app.store.write((tx) => mark(tx, `sync:${crm}`, [id], Date.now()));
    await fixture.settled();
    expect(number(fixture, id)).toBe(null);
  });
});
