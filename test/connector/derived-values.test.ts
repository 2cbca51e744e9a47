/** What is no property of a company by itself becomes one by mapping: reports, news, owners, board, management. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Updates } from '../../src/protocol/payload.ts';
import { payloadOf, writePayload } from '../../src/protocol/payload.ts';
import { samplePayload } from '../../src/protocol/sample/stream.ts';
import { ENTITY } from '../faults/company.ts';
import { startFixture } from '../support/stage.ts';
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
  const stage = await startFixture({
    hubspot: { properties: PROPERTIES },
    connections: { hubspot: { persons: true, fields } },
  });
  const id = await stage.addLinked('hubspot', ENTITY, {});
  const { payload, newReport, newArticle } = wholeCompany();
  await stage.post(payload);
  await stage.atRest();
  expect(stage.hubspot.get(id)).toMatchObject({
    nyhed: newArticle?.headline,
    resultat: newReport?.data.result?.value,
    regnskabsaar: newReport?.data.reportYear,
    ejere: 'Luftkastel Holding ApS (50-66.66 %), Prøve Opdigtsen (33.34-50 %)',
    bestyrelse: 'Prøve Opdigtsen\nTest Tænktsen',
    antal_ledere: 1,
    revisor: 'Rolf Regnefejl, Tælleværk Revision A/S',
  });
});

test('a list is cut to the length of its property, and says how many more there are', async () => {
  const stage = await startFixture({
    salesforce: { fields: [{ name: 'Ejere__c', length: 40 }] },
    connections: { salesforce: { persons: true, fields: { owners: 'Ejere__c' } } },
  });
  const id = await stage.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await stage.post(wholeCompany().payload);
  await stage.atRest();
  expect(stage.salesforce.get(id)).toMatchObject({ Ejere__c: 'Luftkastel Holding ApS (50-66.66 %) (+1)' });
});

test('without the word of the configuration no person is written anywhere', async () => {
  const stage = await startFixture({
    hubspot: { properties: PROPERTIES },
    connections: { hubspot: { fields: FIELDS, notes: ['board', 'management', 'ownership', 'accountant'] } },
  });
  const id = await stage.addLinked('hubspot', ENTITY, {});
  const { payload } = wholeCompany();
  await stage.post(payload);
  await stage.settled();
  expect(stage.hubspot.get(id)).toMatchObject({ revisor: 'Tælleværk Revision A/S' });
  const { board, management, ownership, accountant } = payload.updates;
  const changed = { ...(board && { board }), ...(management && { management }) };
  const later = { ...changed, ...(ownership && { ownership }), ...(accountant && { accountant }) };
  const gone = Object.fromEntries(
    Object.entries(later).map(([event, { added }]) => [event, { added: [], removed: added, changed: [] }]),
  );
  await stage.post(payloadOf(ENTITY, '2026-03-03T08:00:00.000Z', gone));
  await stage.atRest();
  await expect.poll(() => stage.hubspot.notes(id).length, { timeout: 10_000 }).toBe(1);
  expect(stage.hubspot.notes(id)[0]).toContain('Udgået: Luftkastel Holding ApS (50-66,66 %)');
  expect(stage.hubspot.get(id)).toMatchObject({ revisor: null, nyhed: expect.any(String) });
  // Every value that was ever written, too.
  const all = JSON.stringify([stage.hubspot.get(id), stage.hubspot.notes(id), await stage.history(id)]);
  expect(all).not.toMatch(/Opdigtsen|Tænktsen|Illusorisk|Regnefejl|CVR-3/u);
});

test('a record that is linked to a person gets nothing of theirs without that word, and gets it with it', async () => {
  const human = person(5, 'Prøve Opdigtsen').entityId;
  const named = payloadOf(human, '2026-03-02T08:00:00.000Z', {
    name: { before: null, after: 'Prøve Opdigtsen' },
    phoneNumber: { before: null, after: '10111111' },
  });
  const nameFor = async (connection: object): Promise<unknown> => {
    const stage = await startFixture({ connections: { hubspot: connection } });
    const id = await stage.addLinked('hubspot', human, {});
    await stage.post(named);
    await stage.settled();
    return [stage.hubspot.get(id)?.['name'] ?? null, (await stage.history(id)).length > 0];
  };
  expect(await nameFor({})).toEqual([null, false]);
  expect(await nameFor({ persons: true })).toEqual(['Prøve Opdigtsen', true]);
});

test('nor is a person named in a plan, in a preview, or in a record that a transfer makes', async () => {
  const match = { property: 'cvr_number' };
  const stage = await startFixture({
    hubspot: { properties: PROPERTIES },
    connections: { hubspot: { match, fields: FIELDS } },
  });
  const folder = newFolder();
  const { payload } = wholeCompany();
  await stage.post(payload);
  await stage.settled();
  const id = stage.hubspot.add({ cvr_number: ENTITY.slice('CVR-1-'.length), name: 'Uden navn' });
  const plan = join(folder, 'plan.csv');
  expect((await stage.cli('backfill', 'hubspot', '--plan', plan)).code).toBe(0);
  await stage.link('hubspot', id, ENTITY);
  await stage.atRest();
  // Blank again, so that there is something to preview, whoever was first.
  stage.hubspot.edit(id, { revisor: null });
  const file = join(folder, 'payload.json');
  writeFileSync(file, JSON.stringify(writePayload(payload)));
  const preview = await stage.cli('receive', file, '--dry-run');
  stage.hubspot.remove(id);
  const removed = await stage.cli('monitoring', 'remove', 'hubspot', ENTITY, id);
  const made = await stage.cli('transfer', 'hubspot', ENTITY, '--json');
  const record = stage.hubspot.get(JSON.parse(made.stdout).record);
  expect([removed.code, made.code, record?.['revisor']]).toEqual([0, 0, 'Tælleværk Revision A/S']);
  for (const text of [readFileSync(plan, 'utf8'), preview.stdout, JSON.stringify(record)]) {
    expect(text).toContain('Tælleværk Revision A/S');
    expect(text).not.toMatch(/Opdigtsen|Tænktsen|Illusorisk|Regnefejl|CVR-3/u);
  }
});
