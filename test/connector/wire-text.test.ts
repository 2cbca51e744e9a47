/** What no text of PostgreSQL holds: it must not keep a record from being synced, or be written again and again. */
import { expect, test } from 'vitest';
import { ENTITY, reported } from '../faults/company.ts';
import { startFixture } from '../support/fixture.ts';
import { ENGINES } from '../support/stores.ts';

test.each(ENGINES)(
  'a value with half a character or a NUL is set aside, and written values are stored (%s)',
  async (engine) => {
    const industry = { name: 'branche', type: 'enumeration', options: ['620100'] };
    const fixture = await startFixture({
      engine,
      hubspot: { properties: [industry] },
      connections: { hubspot: { fields: { status: { property: 'branche', policy: 'always' } } } },
    });
    for (const [day, odd] of [
      [8, 'UNDER\0KONKURS'],
      [9, 'UNDER\uD83DKONKURS'],
    ] as const) {
      const id = await fixture.addLinked('hubspot', ENTITY, {});
      expect(
        await fixture.post(
          reported({ name: { before: null, after: 'A ApS' }, status: { before: null, after: odd } }, day),
        ),
      ).toBe(204);
      await fixture.atRest();
      expect(fixture.hubspot.get(id)).toMatchObject({ name: 'A ApS', branche: null });
      const lines = await fixture.history(id);
      expect(lines.find(({ property }) => property === 'branche')).toMatchObject({ outcome: 'refused' });
      expect(lines.find(({ property }) => property === 'name')).toMatchObject({ outcome: 'written' });
    }
  },
);

test('a record is parked even with a reason that PostgreSQL cannot store', async () => {
  const validationRule = (values: { Name?: unknown }) => (values.Name === 'B ApS' ? 'not this: \0' : undefined);
  const fixture = await startFixture({ engine: 'postgres', salesforce: { validationRule } });
  await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.post(reported({ name: { before: 'A ApS', after: 'B ApS' } }, 8));
  await fixture.settled();
  const lanes = await fixture.app.store.db.selectFrom('lane').selectAll().where('parked_at', 'is not', null).execute();
  expect(lanes).toMatchObject([{ error: expect.stringContaining('not this: \uFFFD') }]);
});
