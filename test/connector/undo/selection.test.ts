/** What an undo takes back is what was asked for, and nothing beside it: by window, company, CRM and property. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { ENTITY, OTHER, reported } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';

const change = (entity: string, hour: number, name: string, phone: string) =>
  reported({ name: { before: null, after: name }, phoneNumber: { before: null, after: phone } }, hour, entity);

/** Two companies in HubSpot, one of them in Salesforce too; all were written to once, then a moment passed, and once more. */
async function writtenTwice() {
  const fixture = await startFixture();
  const one = await fixture.addLinked('hubspot', ENTITY, {});
  const two = await fixture.addLinked('hubspot', OTHER, {});
  const three = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.post(change(ENTITY, 8, 'B ApS', '10111111'));
  await fixture.settled();
  await sleep(2);
  const between = new Date().toISOString();
  await sleep(2);
  await fixture.post(change(OTHER, 9, 'X ApS', '10222222'));
  await fixture.post(reported({ phoneNumber: { before: '10111111', after: '10333333' } }, 10, ENTITY));
  await fixture.settled();
  const held = () => ({
    one: [fixture.hubspot.get(one)?.['name'] ?? null, fixture.hubspot.get(one)?.['phone'] ?? null],
    two: [fixture.hubspot.get(two)?.['name'] ?? null, fixture.hubspot.get(two)?.['phone'] ?? null],
    three: [fixture.salesforce.get(three)?.['CVR_Name__c'] ?? null, fixture.salesforce.get(three)?.['Phone'] ?? null],
  });
  const undo = async (...argv: readonly string[]) => {
    const { code, stdout } = await fixture.cli('undo', '--yes', '--json', ...argv);
    const { properties }: { properties: { property: string; kind: string }[] } = JSON.parse(stdout);
    return { code, kinds: new Set(properties.map(({ property, kind }) => `${property} ${kind}`)) };
  };
  const before = held();
  expect(before).toMatchObject({
    one: ['B ApS', expect.stringContaining('10333333')],
    two: ['X ApS', expect.any(String)],
  });
  return { between, before, held, undo };
}

test('a window ends at its time, keeps later writes, and skips values that they replaced', async () => {
  const { between, before, held, undo } = await writtenTwice();
  const { code, kinds } = await undo('--since', '2026-01-01', '--until', between, '--provider', 'hubspot');
  expect(code).toBe(3);
  expect([...kinds]).toEqual(expect.arrayContaining(['name restored', 'phone overtaken']));
  expect(held()).toEqual({ ...before, one: [null, before.one[1]] });
});

test('a window begins at its time', async () => {
  const { between, before, held, undo } = await writtenTwice();
  expect((await undo('--since', between, '--property', 'phone')).code).toBe(0);
  expect(held()).toEqual({ ...before, one: ['B ApS', expect.stringContaining('10111111')], two: ['X ApS', null] });
});

test('a company, a CRM and a property limit it', async () => {
  const { before, held, undo } = await writtenTwice();
  expect((await undo('--entity', OTHER, '--property', 'name')).code).toBe(0);
  expect(held()).toEqual({ ...before, two: [null, before.two[1]] });
  expect((await undo('--entity', ENTITY, '--provider', 'salesforce')).code).toBe(0);
  expect(held()).toEqual({ ...before, two: [null, before.two[1]], three: [null, null] });
});

test('only the writes of the selected company are undone in a record that was linked to two', async () => {
  const fixture = await startFixture({ connections: { hubspot: { policy: 'always' } } });
  const id = await fixture.addLinked('hubspot', OTHER, {});
  await fixture.post(change(OTHER, 8, 'X ApS', '10222222'));
  await fixture.settled();
  const end = { provider: 'hubspot', recordId: id, state: 'removed', reason: 'the wrong company' } as const;
  await fixture.app.store.write((tx) => endLink(tx, { ...end, now: Date.now() }));
  await fixture.settled();
  await fixture.link('hubspot', id, ENTITY);
  await fixture.post(reported({ name: { before: null, after: 'B ApS' } }, 9, ENTITY));
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'B ApS', phone: expect.stringContaining('10222222') });
  expect((await fixture.cli('undo', '--yes', '--entity', OTHER)).code).toBe(3);
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'B ApS', phone: null });
});
