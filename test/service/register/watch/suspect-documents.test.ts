import { expect, test } from 'vitest';
import { park } from '../../../../src/runtime/lanes/lane-state.ts';
import { INPUT_QUEUE } from '../../../../src/runtime/lanes/poison.ts';
import { documentInput } from '../../../../src/service/register/watch/suspect-documents.ts';
import { newStore } from '../../../support/stores.ts';
import { life, loaded, oldCompany, setWatch } from '../watch-fixture.ts';

test('a quarantined version is skipped, and later versions and other documents are read', async () => {
  const [company, other] = [oldCompany(1), oldCompany(2)];
  const fixture = await setWatch(await newStore('sqlite'));
  const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };
  const poison = loaded(life(company), -100);
  await fixture.store.write((tx) =>
    park(tx, INPUT_QUEUE, `register ${documentInput(poison)}`, { at: fixture.now(), error: 'it ended the process' }),
  );
  const names = async () =>
    (await fixture.store.db.selectFrom('snapshot').select('body').execute()).map(({ body }) => JSON.parse(body).name);
  await fixture.tell(poison, loaded(life(other), -90));
  await fixture.run();
  expect(await names()).toEqual([other.name]);
  await fixture.tell(loaded(life(company, renamed), 0));
  await fixture.run();
  expect((await names()).toSorted()).toEqual([other.name, 'Nyt Navn ApS'].toSorted());
});
