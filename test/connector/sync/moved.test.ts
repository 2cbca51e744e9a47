/** A CRM that answers an update with the id of another record. */
import { expect, it } from 'vitest';
import { ENTITY, renamed } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';

const POLL = { timeout: 60_000, interval: 20 };

it.each(SUITE_ENGINES)('an unchanged survivor moves no link on %s, and the record gets its values', async (engine) => {
  const fixture = await startFixture({ engine });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  const other = { id: '123', properties: {} };
  const answer = (match: string, body: object) =>
    fixture.hubspot.fault({ match, action: { kind: 'status', status: 200, body } });
  answer('batch/update', { results: [{ ...other, objectWriteTraceId: id }] });
  answer(`GET .*/companies/${id}$`, other);
  await fixture.post(renamed('A ApS', 'B ApS', 9));
  await expect.poll(() => fixture.hubspot.get(id)?.['name'], POLL).toBe('B ApS');
  const links = await fixture.app.store.db.selectFrom('link').select(['record_id', 'state']).execute();
  expect(links).toEqual([{ record_id: id, state: 'active' }]);
});
