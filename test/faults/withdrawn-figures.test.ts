/** What the register takes back and states again with another value reaches the CRM. */
import { test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { isJsonObject } from '../../src/protocol/text/json.ts';
import { handClock } from '../support/clock.ts';
import { company, documentAt, entity, leapUntil, setService } from './service-fixture.ts';

test('a figure that was sent and taken back leaves the CRM, and one that is stated again otherwise reaches it', async () => {
  const clock = handClock();
  const fixture = await setService({ clock });
  const id = fixture.hubspot.add({});
  const year = new Date(clock.now()).getUTCFullYear() - 1;
  const tell = async (...figures: readonly (readonly [month: number, count: number])[]) => {
    const document = documentAt(clock.now());
    const content = isJsonObject(document) && isJsonObject(document['Vrvirksomhed']) ? document['Vrvirksomhed'] : {};
    const erstMaanedsbeskaeftigelse = figures.map(([maaned, antalAnsatte]) => ({ aar: year, maaned, antalAnsatte }));
    await fixture.tell({ Vrvirksomhed: { ...content, erstMaanedsbeskaeftigelse, maanedsbeskaeftigelse: [] } });
    clock.forward(60_000);
  };
  const employees = () => String(fixture.hubspot.get(id)?.['numberofemployees'] ?? '');
  const monthlyIn = async () => {
    const row = await fixture.app.store.db
      .selectFrom('snapshot')
      .select('body')
      .where('entity', '=', entity)
      .executeTakeFirst();
    return row === undefined ? undefined : JSON.parse(row.body).monthly;
  };
  await tell([4, 4]);
  await leapUntil(fixture, clock, async () => (await monthlyIn())?.value === 4);
  await fixture.app.store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId: id, entity, sendUpdate: true, now: clock.now() }),
  );
  await leapUntil(fixture, clock, () => fixture.hubspot.get(id)?.['name'] === company.name && employees() === '4');
  await tell([4, 4], [5, 5]);
  await leapUntil(fixture, clock, () => employees() === '5');
  await tell([4, 4]);
  await leapUntil(fixture, clock, () => employees() === '4');
  await tell([4, 4], [5, 6]);
  await leapUntil(fixture, clock, () => employees() === '6');
});
