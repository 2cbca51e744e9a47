/** CRMs that spell what they are sent in their own way: the register stays in, people's edits stay, undo puts back. */
import { describe, expect, test } from 'vitest';
import { undoPage } from '../../../src/connector/undo/undo.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { CRMS, ENTITY, renamed, reported } from '../../faults/company.ts';
import { casesOf } from '../../support/all.ts';
import { handClock } from '../../support/clock.ts';
import { type CrmName, type Fixture, startFixture } from '../../support/fixture.ts';

const NAMES = ['  Birk  &  "Søn" A.m.b.a.', 'Ege & "Datter" A.m.b.a.', 'Lind & "Børn" I.v.s.'] as const;
const [FIRST, SECOND, THIRD] = NAMES;
const EDIT = 'As a person wrote it';

/** What a CRM does to a text. */
const RESPELLINGS: readonly (readonly [string, (text: string) => string])[] = [
  ['upper case', (text) => text.toUpperCase()],
  ['trimming and single blanks', (text) => text.trim().replaceAll(/ +/g, ' ')],
  ['HTML escaping', (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
  ['typographic quotes', (text) => text.replaceAll(/"([^"]*)"/g, '“$1”')],
  ['truncation', (text) => text.slice(0, 7)],
  ['a final dot that is dropped', (text) => text.replace(/\.$/, '')],
  ['rich text', (text) => `<p>${text}</p>`],
  ['nothing that is kept', () => ''],
];

async function undo(fixture: Fixture, crm: CrmName, id: string, event: number): Promise<void> {
  const found = fixture.app.connector?.crms.find(({ name }) => name === crm);
  if (found === undefined) throw new Error(`${crm} is not connected`);
  const deps = { store: fixture.app.store, metrics: createMetrics(), now: Date.now, leaseMs: 10_000 };
  await undoPage(deps, { crm: found, ids: [id], selection: { event } }, AbortSignal.timeout(60_000));
  await fixture.settled();
}

describe.each(CRMS)('$crm', ({ crm, name, own, write }) => {
  test.each(casesOf(crm, RESPELLINGS))('%s is not an edit by a person', async (_, make) => {
    const fixture = await startFixture({ [crm]: { respell: { [name]: make, [own]: make } } });
    // Salesforce keeps no blanks at the edges.
    const stored = (text: string) => (make(text.trim()) === '' ? null : make(text.trim()));
    const id = await fixture.addLinked(crm, ENTITY, { [name]: FIRST });
    const report = async (before: string, after: string, hour: number) => {
      await fixture.post(renamed(before, after, hour));
      await fixture.settled();
    };
    await report(FIRST, SECOND, 8);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: stored(SECOND), [own]: stored(SECOND) });

    const written: string[] = [];
    fixture[crm].onWrite = (_id, properties) => void written.push(...Object.keys(properties));
    await report(SECOND, SECOND, 9);
    expect(written).not.toContain(name);
    expect(written).not.toContain(own);

    await report(SECOND, THIRD, 10);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: stored(THIRD), [own]: stored(THIRD) });
    const line = (await fixture.history(id)).findLast(({ property }) => property === name);
    const told = stored(THIRD) === THIRD ? null : `the CRM holds another value: ${JSON.stringify(stored(THIRD))}`;
    expect(line).toMatchObject({ now: THIRD, outcome: 'written', detail: told });

    await undo(fixture, crm, id, line?.seq ?? 0);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: stored(SECOND) });
  });

  test('a write whose answer was lost is recognised in the spelling of the CRM', async () => {
    const respell = { [name]: (text: string) => text.toUpperCase() };
    // HubSpot keeps the history of every property, Salesforce of the fields that the org names.
    const kept = crm === 'salesforce' && { trackedFields: [name] };
    const fixture = await startFixture({ [crm]: { respell, ...kept }, clock: handClock() });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
    await fixture.post(renamed('A ApS', 'B ApS', 8));
    await fixture.atRest();
    expect((await fixture.history(id)).filter(({ property }) => property === name)).toMatchObject([
      { rule: 'ours-after-all', old: 'A ApS', now: 'B ApS', detail: expect.stringContaining('"B APS"') },
      { rule: 'stored' },
    ]);
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C APS' });
  });

  test('an edit after a write whose answer was lost is a person’s', async () => {
    const fixture = await startFixture({ clock: handClock() });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
    fixture[crm].onWrite = () => {
      fixture[crm].onWrite = undefined;
      fixture[crm].edit(id, { [name]: EDIT });
    };
    await fixture.post(renamed('A ApS', 'B ApS', 8));
    await fixture.atRest();
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: EDIT, [own]: 'C ApS' });
  });

  test("an edit by a person stays a person's, however the CRM respells values", async () => {
    const respell = { [name]: (text: string) => text.toUpperCase() };
    const fixture = await startFixture({ [crm]: { respell } });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS', 8));
    await fixture.settled();
    fixture[crm].edit(id, { [name]: EDIT });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    await undo(fixture, crm, id, 1);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: EDIT, [own]: 'C ApS' });
    expect((await fixture.history(id)).findLast(({ property }) => property === name)).toMatchObject({ rule: 'edited' });
  });
});

test('a domain that HubSpot reduces to its host is not an edit by a person', async () => {
  const respell = { domain: (text: string) => new URL(text).host.replace(/^www\./, '') };
  const fields = { website: { property: 'domain' } };
  const fixture = await startFixture({ hubspot: { respell }, connections: { hubspot: { fields } } });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  const report = async (before: string | null, after: string, hour: number) => {
    await fixture.post(reported({ website: { before, after } }, hour));
    await fixture.settled();
  };
  await report(null, 'https://www.birk.example/om-os', 8);
  expect(fixture.hubspot.get(id)).toMatchObject({ domain: 'birk.example' });
  await report('https://www.birk.example/om-os', 'https://ege.example/kontakt', 9);
  expect(fixture.hubspot.get(id)).toMatchObject({ domain: 'ege.example' });
});

test('an edit that arrives in Salesforce between the read and the write is restored', async () => {
  const fixture = await startFixture({ clock: handClock() });
  const id = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.settled();
  fixture.salesforce.onArrival = () => {
    fixture.salesforce.onArrival = undefined;
    fixture.salesforce.edit(id, { Name: EDIT, CVR_Name__c: EDIT });
  };
  await fixture.post(renamed('A ApS', 'B ApS', 8));
  await fixture.atRest();
  expect(fixture.salesforce.get(id)).toMatchObject({ Name: EDIT, CVR_Name__c: 'B ApS' });
  const lines = (await fixture.history(id)).filter(({ property }) => property === 'Name');
  expect(lines.map(({ rule }) => rule)).toEqual(['register', 'returned']);
});
