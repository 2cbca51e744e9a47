/** What an undo takes back is what was asked for, and nothing beside it: by window, company, CRM and property. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { ENTITY, OTHER, reported } from '../../faults/company.ts';
import { startFixture } from '../../support/stage.ts';

const change = (entity: string, hour: number, name: string, phone: string) =>
  reported({ name: { before: null, after: name }, phoneNumber: { before: null, after: phone } }, hour, entity);

/** Two companies in HubSpot, one of them in Salesforce too; all were written to once, then a moment passed, and once more. */
async function writtenTwice() {
  const stage = await startFixture();
  const one = await stage.addLinked('hubspot', ENTITY, {});
  const two = await stage.addLinked('hubspot', OTHER, {});
  const three = await stage.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await stage.post(change(ENTITY, 8, 'B ApS', '10111111'));
  await stage.settled();
  await sleep(2);
  const between = new Date().toISOString();
  await sleep(2);
  await stage.post(change(OTHER, 9, 'X ApS', '10222222'));
  await stage.post(reported({ phoneNumber: { before: '10111111', after: '10333333' } }, 10, ENTITY));
  await stage.settled();
  const held = () => ({
    one: [stage.hubspot.get(one)?.['name'] ?? null, stage.hubspot.get(one)?.['phone'] ?? null],
    two: [stage.hubspot.get(two)?.['name'] ?? null, stage.hubspot.get(two)?.['phone'] ?? null],
    three: [stage.salesforce.get(three)?.['CVR_Name__c'] ?? null, stage.salesforce.get(three)?.['Phone'] ?? null],
  });
  const undo = async (...argv: readonly string[]) => {
    const { code, stdout } = await stage.cli('undo', '--json', ...argv);
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

test('a window ends where it was said to: what was written after it stays, and what it overtook is left alone', async () => {
  const { between, before, held, undo } = await writtenTwice();
  const { code, kinds } = await undo('--since', '2026-01-01', '--until', between, '--provider', 'hubspot');
  expect(code).toBe(3);
  expect([...kinds]).toEqual(expect.arrayContaining(['name restored', 'phone overtaken']));
  expect(held()).toEqual({ ...before, one: [null, before.one[1]] });
});

test('a window begins where it was said to', async () => {
  const { between, before, held, undo } = await writtenTwice();
  expect((await undo('--since', between, '--property', 'phone')).code).toBe(0);
  expect(held()).toEqual({ ...before, one: ['B ApS', expect.stringContaining('10111111')], two: ['X ApS', null] });
});

test('a company, a CRM and a property narrow it', async () => {
  const { before, held, undo } = await writtenTwice();
  expect((await undo('--entity', OTHER, '--property', 'name')).code).toBe(0);
  expect(held()).toEqual({ ...before, two: [null, before.two[1]] });
  expect((await undo('--entity', ENTITY, '--provider', 'salesforce')).code).toBe(0);
  expect(held()).toEqual({ ...before, two: [null, before.two[1]], three: [null, null] });
});

test('of a record that stood for two companies only what was written for the one is taken back', async () => {
  const stage = await startFixture({ connections: { hubspot: { policy: 'always' } } });
  const id = await stage.addLinked('hubspot', OTHER, {});
  await stage.post(change(OTHER, 8, 'X ApS', '10222222'));
  await stage.settled();
  const end = { provider: 'hubspot', recordId: id, state: 'removed', reason: 'the wrong company' } as const;
  await stage.app.store.write((tx) => endLink(tx, { ...end, now: Date.now() }));
  await stage.settled();
  await stage.link('hubspot', id, ENTITY);
  await stage.post(reported({ name: { before: null, after: 'B ApS' } }, 9, ENTITY));
  await stage.settled();
  expect(stage.hubspot.get(id)).toMatchObject({ name: 'B ApS', phone: expect.stringContaining('10222222') });
  expect((await stage.cli('undo', '--entity', OTHER)).code).toBe(3);
  expect(stage.hubspot.get(id)).toMatchObject({ name: 'B ApS', phone: null });
});
