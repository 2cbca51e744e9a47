/** Values and records that a CRM refuses: each is left out with its reason, and nothing else is delayed. */
import { expect, test } from 'vitest';
import { startFixture } from '../support/fixture.ts';
import { ENTITY, OTHER, renamed, reported } from './company.ts';

test('a mapped property that the CRM lacks is left out, and the rest of the record is written', async () => {
  const connections = { hubspot: { fields: { status: 'no_such_property' } } };
  const fixture = await startFixture({ connections });
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  await fixture.post(
    reported({ name: { before: null, after: 'A ApS' }, status: { before: null, after: 'NORMAL' } }, 8),
  );
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'A ApS', cvr_name: 'A ApS' });
  const missing = (await fixture.history(id)).find(({ property }) => property === 'no_such_property');
  expect(missing).toMatchObject({ outcome: 'refused', rule: 'missing' });
});

test('an option that the CRM lacks is left out with the reason, and the rest of the record is written', async () => {
  const industry = { name: 'branche', type: 'enumeration', options: ['620100'] };
  const fixture = await startFixture({
    hubspot: { properties: [industry] },
    connections: { hubspot: { fields: { status: { property: 'branche', policy: 'always' } } } },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  await fixture.post(
    reported({ name: { before: null, after: 'A ApS' }, status: { before: null, after: 'NORMAL' } }, 8),
  );
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'A ApS', branche: null });
  const refused = (await fixture.history(id)).find(({ property }) => property === 'branche');
  expect(refused).toMatchObject({ outcome: 'refused', detail: expect.stringContaining('NORMAL') });
});

test('a text too long for its field is left out, and the rest of the record is written', async () => {
  const fixture = await startFixture({ salesforce: { fields: [{ name: 'CVR_Status__c', length: 5 }] } });
  const id = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.post(
    reported({ name: { before: 'A ApS', after: 'B ApS' }, status: { before: null, after: 'NORMAL' } }, 8),
  );
  await fixture.settled();
  expect(fixture.salesforce.get(id)).toMatchObject({ Name: 'B ApS', CVR_Status__c: null });
  const refused = (await fixture.history(id)).find(({ property }) => property === 'CVR_Status__c');
  expect(refused).toMatchObject({ outcome: 'refused', detail: expect.stringContaining('5') });
});

test('one record that the CRM refuses does not delay the others of its batch, and waits for a person', async () => {
  const validationRule = (values: { Name?: unknown }) => (values.Name === 'Forbudt ApS' ? 'not that name' : undefined);
  const fixture = await startFixture({ salesforce: { validationRule } });
  const good = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  const bad = await fixture.addLinked('salesforce', OTHER, { Name: 'A ApS' });
  await fixture.settled();
  await Promise.all([
    fixture.post(renamed('A ApS', 'Tilladt ApS')),
    fixture.post(renamed('A ApS', 'Forbudt ApS', 8, OTHER)),
  ]);
  await fixture.settled();
  expect(fixture.salesforce.get(good)).toMatchObject({ Name: 'Tilladt ApS', CVR_Name__c: 'Tilladt ApS' });
  expect(fixture.salesforce.get(bad)).toMatchObject({ Name: 'A ApS', CVR_Name__c: null });
  const parked = await fixture.app.store.db.selectFrom('lane').selectAll().where('parked_at', 'is not', null).execute();
  expect(parked).toMatchObject([{ key: bad, error: expect.stringContaining('not that name') }]);
});

test('a held record is not written, and gets all it missed once the hold has ended', async () => {
  const fixture = await startFixture({ connections: { hubspot: { hold: { property: 'cvr_hold' } } } });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS', cvr_hold: true });
  await fixture.post(renamed('A ApS', 'B ApS'));
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'A ApS', cvr_name: null });
  expect(new Set((await fixture.history(id)).map(({ rule }) => rule))).toEqual(new Set(['hold']));
  fixture.hubspot.edit(id, { cvr_hold: false });
  await fixture.post(reported({ email: { before: null, after: 'post@a.example' } }, 9));
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'B ApS', cvr_name: 'B ApS', cvr_email: 'post@a.example' });
});
