import { expect, test } from 'vitest';
import type { Connection, Property } from '../../../providers/provider.ts';
import { guardAccount, guardHold } from '../../../src/connector/crm/guard.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const signal = new AbortController().signal;
const never = (): never => {
  throw new Error('not asked for');
};
const accountOf = (id: string): Connection => ({
  check: async () => ({ id, name: id, notes: [] }),
  properties: never,
  read: never,
  update: never,
  scan: never,
});

for (const engine of SUITE_ENGINES) {
  test(`a connection keeps the account that it began with, on ${engine}`, async () => {
    const store = await newStore(engine);
    const guard = (name: string, id: string, more: { readonly isTrial?: true } = {}) =>
      guardAccount({ store, now: () => 1, ...more }, { name, connection: accountOf(id) }, signal);
    // Whoever only tries a key leaves nothing.
    await guard('hubspot', 'sandbox', { isTrial: true });
    await guard('hubspot', '1');
    await guard('hubspot', '1');
    await expect(guard('hubspot', '2')).rejects.toMatchObject({ fault: 'refused', message: /account 2.*account 1/ });
    await expect(guard('hubspot', '2', { isTrial: true })).rejects.toMatchObject({ fault: 'refused' });
    await guard('other', '2');
  });
}

test('a property for holds that nobody can read stops the connection', () => {
  const hold: Property = { name: 'cvr_hold', label: 'Hold', type: 'boolean', writable: true };
  expect(() => guardHold('hubspot', { hold: 'cvr_hold' }, new Map())).toThrow(/no property cvr_hold/);
  guardHold('hubspot', { hold: 'cvr_hold' }, new Map([['cvr_hold', hold]]));
  guardHold('hubspot', { hold: undefined }, new Map());
  const blind: Property = { ...hold, unreadable: true };
  expect(() => guardHold('erp', { hold: 'cvr_hold' }, new Map([['cvr_hold', blind]]))).toThrow(/cannot be read back/);
});

test('credentials of another account end no link and write nothing', async () => {
  const account = { key: 'account:hubspot', value: 'another', updated_at: 0 };
  const fixture = await startFixture({
    before: async (store) => void (await store.write((tx) => tx.insertInto('kv').values(account).execute())),
  });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await fixture.post(reported({ name: { before: 'A ApS', after: 'B ApS' } }, 8));
  await expect
    .poll(
      async () =>
        (await fixture.app.connector?.crms.find((crm) => crm.name === 'hubspot')?.rateLimiter.blockedUntil())?.reason,
    )
    .toMatch(/belong to account .*, and its links to account another/);
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'A ApS' });
  const links = await fixture.app.store.db.selectFrom('link').select(['record_id', 'state']).execute();
  expect(links).toEqual([{ record_id: id, state: 'active' }]);
});

test('a hold that cannot be read writes to no record, held or not', async () => {
  const fixture = await startFixture({
    hubspot: { missingProperties: ['cvr_hold'] },
    connections: { hubspot: { hold: { property: 'cvr_hold' } } },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  await fixture.post(reported({ name: { before: 'A ApS', after: 'B ApS' } }, 8));
  await expect
    .poll(
      async () =>
        (await fixture.app.connector?.crms.find((crm) => crm.name === 'hubspot')?.rateLimiter.blockedUntil())?.reason,
    )
    .toMatch(/no property cvr_hold/);
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'A ApS' });
});
