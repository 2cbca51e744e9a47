/** Text that JSON can contain and PostgreSQL cannot store: a NUL, half a surrogate pair. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readNames } from '../../src/service/register/watch/snapshots.ts';
import { life, loaded, oldCompany, setWatch } from '../service/register/watch-fixture.ts';
import { openReceiver, post } from '../support/receiver.ts';
import { ENGINES, newFolder, newStore } from '../support/stores.ts';

const company = oldCompany(1);
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };
const odd = (text: string): string => `${text}\u0000\uD800`;

describe.each(ENGINES)('an unstorable text, on %s', (engine) => {
  test('in a line without a document is quarantined with it, and the lines around it are read', async () => {
    const folder = newFolder();
    const fixture = await setWatch(await newStore(engine), { folder });
    await fixture.tell(loaded(life(company), -100));
    await appendFile(join(folder, 'register.ndjson'), '\u0000{\n{"Vrvirksomhed\u0000":{}}\n');
    await fixture.tell({ Vrvirksomhed: { cvrNummer: odd('1') } }, loaded(life(company, renamed), 0));
    await fixture.run();
    expect(await fixture.events()).toEqual([`${company.entityId} name`]);
    expect(await fixture.store.db.selectFrom('quarantine').select('id').execute()).toHaveLength(3);
  });

  test('in a document is published without its invalid characters, and the next document too', async () => {
    const fixture = await setWatch(await newStore(engine));
    const named = {
      name: odd('Nul'),
      purpose: odd('Halv'),
      pUnits: [],
      address: { ...company.address, coName: odd('c') },
    };
    await fixture.tell(loaded(life(company), -100), loaded(life(company, { from: '2026-05-01', is: named }), -50));
    await fixture.run();
    // The names of companies are read from what is stored.
    const names = await fixture.store.write((tx) => readNames(tx, [company.entityId]));
    expect([...names.values()]).toEqual(['Nul\uFFFD\uFFFD']);
    await fixture.tell(
      loaded(
        life(company, { from: '2026-05-01', is: named }, { ...renamed, is: { ...renamed.is, pUnits: company.pUnits } }),
        0,
      ),
    );
    await fixture.run();
    expect((await fixture.changes()).at(-1)?.updates).toMatchObject({
      name: { before: 'Nul\uFFFD\uFFFD', after: 'Nyt Navn ApS' },
    });
  });

  test('in a webhook is quarantined, and the sender is notified', async () => {
    const store = await newStore(engine);
    const receiver = await openReceiver(store);
    expect((await post(receiver.url, '\u0000{')).status).toBe(400);
    expect(await store.db.selectFrom('quarantine').select('id').execute()).toHaveLength(1);
    await receiver.close();
  });
});
