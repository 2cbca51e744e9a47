/** What a record holds now, where the CRM answers for some records alone. */
import { expect, it } from 'vitest';
import { readCurrents } from '../../../src/connector/explain/current.ts';
import { A, B, newFixture } from '../heal/fixture.ts';

it('explain does not call an unread record deleted', async () => {
  const { store, crm, now, ...fixture } = await newFixture('sqlite');
  await fixture.link('1', A);
  await fixture.link('2', B);
  const connection: typeof crm.connection = {
    ...crm.connection,
    read: async (ids) => ids.map((id) => (id === '1' ? { kind: 'retry', id, reason: 'a 503' } : { kind: 'gone', id })),
  };
  const currents = await readCurrents(
    { store, now: () => now },
    { ...crm, connection },
    [{ id: '1' }, { id: '2' }],
    3_000,
  );
  expect(currents).toEqual([{ kind: 'silent', reason: 'a 503' }, { kind: 'gone' }]);
});
