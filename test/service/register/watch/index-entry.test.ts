import { describe, expect, it } from 'vitest';
import { type FillDeps, rebuildIndex } from '../../../../src/match/index/fill.ts';
import { clearIndex, readEntries, storeEntries } from '../../../../src/match/index/write.ts';
import { matchRecords } from '../../../../src/match/match.ts';
import { parseEntityId } from '../../../../src/protocol/entity-id.ts';
import { readRegisterEntries } from '../../../../src/service/register/watch/index-entry.ts';
import { ENGINES, newStore } from '../../../support/stores.ts';
import { life, loaded, oldCompany, setWatch, type WatchFixture } from '../watch-fixture.ts';

const company = oldCompany(1);
const number = parseEntityId(company.entityId)?.number ?? '';
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };
const rebuild = ({ store, now }: WatchFixture, report: FillDeps['report'] = () => {}, stop = new AbortController()) =>
  rebuildIndex({ store, now, report, onProblem: () => {} }, readRegisterEntries, stop.signal);

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

  it('follows the register also while its keys are being sorted', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    const stop = new AbortController();
    await expect(
      rebuild(fixture, ({ position }) => void (position === 'sorting' && stop.abort()), stop),
    ).rejects.toThrow();
    await fixture.tell(loaded(life(company, renamed), 0));
    await fixture.run();
    await rebuild(fixture);
    const keys = () => fixture.store.db.selectFrom('match_key').selectAll().orderBy('key').execute();
    const followed = await keys();
    const entry = (await readEntries(fixture.store.db, [number])).get(number);
    await fixture.store.write(async (tx) => {
      while (await clearIndex(tx, 1_000));
      await storeEntries(tx, entry === undefined ? [] : [entry]);
    });
    expect(entry?.name).toBe('Nyt Navn ApS');
    expect(followed).toEqual(await keys());
  });
});
