/** What is no property of a company by itself becomes one by mapping: reports, news, owners, board, management. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Updates } from '../../src/protocol/payload.ts';
import { payloadOf, writePayload } from '../../src/protocol/payload.ts';
import { samplePayload } from '../../src/protocol/sample/stream.ts';
import { ENTITY } from '../faults/company.ts';
import { startFixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

const person = (number: number, name: string) => ({ entityId: `CVR-3-499900000${number}`, name, type: 'Person' });
const firm = { entityId: 'CVR-1-95023452', name: 'Luftkastel Holding ApS', type: 'Company' };
const auditors = { entityId: 'CVR-1-95034562', name: 'Tælleværk Revision A/S', type: 'Company' };

const property = (name: string, more: object = {}) => ({ name, type: 'string', ...more });
const PROPERTIES = [
  property('nyhed'),
  property('ejere'),
  property('bestyrelse', { fieldType: 'textarea' }),
  property('antal_ledere', { type: 'number' }),
  property('revisor'),
  property('resultat', { type: 'number' }),
  property('regnskabsaar', { type: 'number' }),
];

function wholeCompany() {
  const { newReport } = samplePayload({ event: 'newReport', now: 0 }).updates;
  const { newArticle } = samplePayload({ event: 'newArticle', now: 0 }).updates;
  const { ownership: _, ...updates } = samplePayload({ now: 0 }).updates;
  const whole: Updates = {
    ...updates,
    ...(newReport !== undefined && { newReport }),
    ...(newArticle !== undefined && { newArticle }),
    ownership: {
      added: [
        { ...firm, ownership: '50-66.66' },
        { ...person(1, 'Prøve Opdigtsen'), ownership: '33.34-50' },
      ],
      removed: [],
      changed: [],
    },
    board: { added: [person(1, 'Prøve Opdigtsen'), person(2, 'Test Tænktsen')], removed: [] },
    management: { added: [person(3, 'Ida Illusorisk')], removed: [] },
    accountant: { added: [auditors, person(4, 'Rolf Regnefejl')], removed: [] },
  };
  return { payload: payloadOf(ENTITY, '2026-03-02T08:00:00.000Z', whole), newReport, newArticle };
}

const FIELDS = {
  newsHeadline: 'nyhed',
  accountant: 'revisor',
  result: 'resultat',
  reportYear: 'regnskabsaar',
};

test('reports, news, owners, board and management are properties by mapping, lists joined by rule', async () => {
  const fields = {
    ...FIELDS,
    owners: 'ejere',
    board: { property: 'bestyrelse', join: '\n' },
    management: 'antal_ledere',
  };
  const fixture = await startFixture({
    hubspot: { properties: PROPERTIES },
    connections: { hubspot: { persons: true, fields } },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  const { payload, newReport, newArticle } = wholeCompany();
  await fixture.post(payload);
  await fixture.atRest();
  expect(fixture.hubspot.get(id)).toMatchObject({
    nyhed: newArticle?.headline,
    resultat: newReport?.data.result?.value,
    regnskabsaar: newReport?.data.reportYear,
    ejere: 'Luftkastel Holding ApS (50-66.66 %), Prøve Opdigtsen (33.34-50 %)',
    bestyrelse: 'Prøve Opdigtsen\nTest Tænktsen',
    antal_ledere: 1,
    revisor: 'Rolf Regnefejl, Tælleværk Revision A/S',
  });
});

test('a list is cut to the length of its property, and counts the omitted members', async () => {
  const fixture = await startFixture({
    salesforce: { fields: [{ name: 'Ejere__c', length: 40 }] },
    connections: { salesforce: { persons: true, fields: { owners: 'Ejere__c' } } },
  });
  const id = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.post(wholeCompany().payload);
  await fixture.atRest();
  expect(fixture.salesforce.get(id)).toMatchObject({ Ejere__c: 'Luftkastel Holding ApS (50-66.66 %) (+1)' });
});

test('no person is written unless the configuration allows it', async () => {
  const fixture = await startFixture({
    hubspot: { properties: PROPERTIES },
    connections: { hubspot: { fields: FIELDS, notes: ['board', 'management', 'ownership', 'accountant'] } },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  const { payload } = wholeCompany();
  await fixture.post(payload);
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ revisor: 'Tælleværk Revision A/S' });
  const { board, management, ownership, accountant } = payload.updates;
  const changed = { ...(board && { board }), ...(management && { management }) };
  const later = { ...changed, ...(ownership && { ownership }), ...(accountant && { accountant }) };
  const gone = Object.fromEntries(
    Object.entries(later).map(([event, { added }]) => [event, { added: [], removed: added, changed: [] }]),
  );
  await fixture.post(payloadOf(ENTITY, '2026-03-03T08:00:00.000Z', gone));
  await fixture.atRest();
  await expect.poll(() => fixture.hubspot.notes(id).length, { timeout: 120_000 }).toBe(1);
  expect(fixture.hubspot.notes(id)[0]).toContain('Udgået: Luftkastel Holding ApS (50-66,66 %)');
  expect(fixture.hubspot.get(id)).toMatchObject({ revisor: null, nyhed: expect.any(String) });
  // Every value that was ever written, too.
  const all = JSON.stringify([fixture.hubspot.get(id), fixture.hubspot.notes(id), await fixture.history(id)]);
  expect(all).not.toMatch(/Opdigtsen|Tænktsen|Illusorisk|Regnefejl|CVR-3/u);
});

test('a record that is linked to a person gets their data only if the configuration allows it', async () => {
  const human = person(5, 'Prøve Opdigtsen').entityId;
  const named = payloadOf(human, '2026-03-02T08:00:00.000Z', {
    name: { before: null, after: 'Prøve Opdigtsen' },
    phoneNumber: { before: null, after: '10111111' },
  });
  const nameFor = async (connection: object): Promise<unknown> => {
    const fixture = await startFixture({ connections: { hubspot: connection } });
    const id = await fixture.addLinked('hubspot', human, {});
    await fixture.post(named);
    await fixture.settled();
    return [fixture.hubspot.get(id)?.['name'] ?? null, (await fixture.history(id)).length > 0];
  };
  expect(await nameFor({})).toEqual([null, false]);
  expect(await nameFor({ persons: true })).toEqual(['Prøve Opdigtsen', true]);
});

test('a plan, a preview and a transfer name no person unless the configuration allows it', async () => {
  const match = { property: 'cvr_number' };
  const fixture = await startFixture({
    hubspot: { properties: PROPERTIES },
    connections: { hubspot: { match, fields: FIELDS } },
  });
  const folder = newFolder();
  const { payload } = wholeCompany();
  await fixture.post(payload);
  await fixture.settled();
  const id = fixture.hubspot.add({ cvr_number: ENTITY.slice('CVR-1-'.length), name: 'Uden navn' });
  const plan = join(folder, 'plan.csv');
  expect((await fixture.cli('backfill', 'hubspot', '--plan', plan)).code).toBe(0);
  await fixture.link('hubspot', id, ENTITY);
  await fixture.atRest();
  // Blank again, so that there is something to preview, whoever was first.
  fixture.hubspot.edit(id, { revisor: null });
  const file = join(folder, 'payload.json');
  writeFileSync(file, JSON.stringify(writePayload(payload)));
  const preview = await fixture.cli('receive', file, '--dry-run');
  fixture.hubspot.remove(id);
  const removed = await fixture.cli('monitoring', 'remove', 'hubspot', ENTITY, id);
  const made = await fixture.cli('transfer', 'hubspot', ENTITY, '--json');
  const record = fixture.hubspot.get(JSON.parse(made.stdout).record);
  expect([removed.code, made.code, record?.['revisor']]).toEqual([0, 0, 'Tælleværk Revision A/S']);
  for (const text of [readFileSync(plan, 'utf8'), preview.stdout, JSON.stringify(record)]) {
    expect(text).toContain('Tælleværk Revision A/S');
    expect(text).not.toMatch(/Opdigtsen|Tænktsen|Illusorisk|Regnefejl|CVR-3/u);
  }
});
