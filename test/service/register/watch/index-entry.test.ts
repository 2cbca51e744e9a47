import { describe, expect, it } from 'vitest';
import { rebuildIndex } from '../../../../src/match/index/fill.ts';
import { readEntries } from '../../../../src/match/index/write.ts';
import { matchRecords } from '../../../../src/match/match.ts';
import { parseEntityId } from '../../../../src/protocol/entity-id.ts';
import { readRegisterEntries } from '../../../../src/service/register/watch/index-entry.ts';
import { ENGINES, newStore } from '../../../support/stores.ts';
import { life, loaded, oldCompany, setWatch, type WatchFixture } from '../watch-fixture.ts';

const company = oldCompany(1);
const number = parseEntityId(company.entityId)?.number ?? '';
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };
const rebuild = ({ store, now }: WatchFixture) =>
  rebuildIndex(
    { store, now, report: () => {}, onProblem: () => {} },
    readRegisterEntries,
    new AbortController().signal,
  );

describe.each(ENGINES)('the company index beside the watcher on %s', (engine) => {
  it('holds nothing before somebody makes it', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    expect((await readEntries(fixture.store.db, [number])).size).toBe(0);
  });

  it('is made of what the register said, and follows it from then on', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    expect((await rebuild(fixture)).entries).toBe(1);
    const { streetName, houseNumberFrom, postalCode } = company.address;
    const record = { name: company.name, street: `${streetName} ${houseNumberFrom}`, postalCode: String(postalCode) };
    expect((await matchRecords(fixture.store.db, [record]))[0]).toMatchObject({
      verdict: 'certain',
      candidates: [{ company: number }],
    });
    await fixture.tell(loaded(life(company, renamed), 0));
    await fixture.run();
    expect((await readEntries(fixture.store.db, [number])).get(number)).toMatchObject({
      name: 'Nyt Navn ApS',
      formerNames: [{ value: company.name, until: '2026-05-04' }],
    });
  });
});
