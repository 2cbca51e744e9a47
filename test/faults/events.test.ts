/** Malformed, late and repeated events: their effect in the CRMs. */
import { describe, expect, test } from 'vitest';
import { writePayload } from '../../src/protocol/payload.ts';
import { fullStatePayload, sampleCompany } from '../../src/protocol/sample/company.ts';
import { startFixture } from '../support/fixture.ts';
import { CRMS, ENTITY, renamed, reported } from './company.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

test('an unknown event is stored and counted, and the rest of its webhook is used', async () => {
  const fixture = await startFixture();
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  const wire = writePayload(renamed(null, 'Ny ApS'));
  const body = JSON.stringify({ ...wire, updates: { ...wire.updates, moonPhase: { updated: true, phase: 'full' } } });
  expect(await fixture.post(body, JSON_TYPE)).toBe(204);
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ cvr_name: 'Ny ApS' });
  expect(await metrics(fixture.app.adminUrl)).toMatch(/unknown_events_total\{event="moonPhase"\} 1/);
  const receipt = await fixture.app.store.db.selectFrom('receipt').select('body').executeTakeFirstOrThrow();
  expect(receipt.body).toContain('moonPhase');
});

test('a malformed entry is quarantined by name, and the rest of its webhook is used', async () => {
  const fixture = await startFixture();
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  const wire = writePayload(renamed(null, 'Ny ApS'));
  const body = JSON.stringify({ ...wire, updates: { ...wire.updates, capital: { updated: true, after: 'a lot' } } });
  expect(await fixture.post(body, JSON_TYPE)).toBe(204);
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ cvr_name: 'Ny ApS', cvr_capital: null });
  expect(await metrics(fixture.app.adminUrl)).toMatch(/malformed_entries_total\{event="capital"\} 1/);
});

test('an event of a company without a record reaches the record that is linked later', async () => {
  const fixture = await startFixture();
  expect(await fixture.post(renamed(null, 'Før Link ApS'))).toBe(204);
  await fixture.settled();
  // The account and its properties are looked at from time to time; no record is.
  expect(fixture.hubspot.calls.filter(({ path }) => path.includes('/objects/'))).toEqual([]);
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'Før Link ApS', cvr_name: 'Før Link ApS' });
});

test('a company with more events than fit into one transaction ends with the newest values', async () => {
  const fixture = await startFixture();
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  const accept = async (number: number): Promise<void> => {
    const { timestamp, ...wire } = writePayload(renamed(null, `Nr ${number} ApS`));
    const later = new Date(Date.parse(timestamp) + number * 1_000).toISOString();
    const body = JSON.stringify({ ...wire, timestamp: later });
    await fixture.app.connector?.intake.accept({ body, webhookId: undefined, isSigned: false });
  };
  await Promise.all(Array.from({ length: 2_500 }, (_, number) => accept(number)));
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ cvr_name: 'Nr 2499 ApS' });
  const left = fixture.app.store.db.selectFrom('receipt').select('seq').where('applied_at', 'is', null);
  expect(await left.execute()).toEqual([]);
});

describe.each(CRMS)('$crm', ({ crm, name, own, write }) => {
  const calls = (fixture: Awaited<ReturnType<typeof startFixture>>): number =>
    fixture[crm].calls.filter(({ method, path }) => new RegExp(write).test(`${method} ${path}`)).length;

  test('an older webhook that arrives late changes nothing', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    await fixture.post(renamed('A ApS', 'B ApS', 8));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS', [own]: 'C ApS' });
  });

  test('two quick changes A to B to C find A in the CRM, which is no edit of a person', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await Promise.all([fixture.post(renamed('A ApS', 'B ApS', 8)), fixture.post(renamed('B ApS', 'C ApS', 9))]);
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS', [own]: 'C ApS' });
  });

  test('an edit of a person stays, whatever the register says next, and is in the history', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS', 8));
    await fixture.settled();
    fixture[crm].edit(id, { [name]: 'B (our best customer)' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B (our best customer)', [own]: 'C ApS' });
    const rows = (await fixture.history(id)).filter(({ property }) => property === name);
    expect(rows.map(({ rule, outcome }) => `${rule} ${outcome}`)).toEqual(['register written', 'edited kept']);
  });

  test('a value the register no longer has is cleared', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const email = crm === 'hubspot' ? 'cvr_email' : 'CVR_Email__c';
    await fixture.post(reported({ email: { before: null, after: 'post@a.example' } }, 8));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [email]: 'post@a.example' });
    await fixture.post(reported({ email: { before: 'post@a.example', after: null } }, 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [email]: null });
  });

  test('a repeated full state is compared in every property, and not written', async () => {
    // The time of the newest change is the one field that differs.
    const connections = { [crm]: { fields: { registerChangedAt: false } } };
    const fixture = await startFixture({ connections });
    await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    for (const at of ['2026-03-02T08:00:00.000Z', '2026-03-02T09:00:00.000Z']) {
      await fixture.post(fullStatePayload({ ...sampleCompany(7), entityId: ENTITY }, at));
      await fixture.settled();
    }
    expect(calls(fixture)).toBe(1);
  });

  test('no record is written if nothing differs', async () => {
    const fixture = await startFixture();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed(null, 'A ApS'));
    await fixture.settled();
    const before = calls(fixture);
    expect(before).toBe(1);
    // The CRM gets what it holds already: by hand, and by a webhook that says it again.
    const at = crm === 'hubspot' ? 'cvr_changed_at' : 'CVR_Changed_At__c';
    fixture[crm].edit(id, { [name]: 'B ApS', [own]: 'B ApS', [at]: '2026-03-02T09:00:00.000Z' });
    await fixture.post(renamed('A ApS', 'B ApS', 9));
    await fixture.settled();
    expect(calls(fixture)).toBe(before);
  });
});

const metrics = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();
