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
const survivor = oldCompany(2);
const survivorNumber = parseEntityId(survivor.entityId)?.number ?? '';
const { streetName, houseNumberFrom, postalCode } = company.address;
const record = { name: company.name, street: `${streetName} ${houseNumberFrom}`, postalCode: String(postalCode) };
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };
const rebuild = ({ store, now }: WatchFixture, report: FillDeps['report'] = () => {}, stop = new AbortController()) =>
  rebuildIndex({ store, now, report, onProblem: () => {} }, readRegisterEntries, stop.signal);

const ended = { from: '2026-03-01', is: { status: 'OPLØST EFTER FUSION', ended: '2026-03-01T00:00:00' } };

/** The document with the one merger that the two companies take part in. */
function merged(document: unknown, comesOut: boolean): unknown {
  const period = { gyldigFra: '2026-03-01', gyldigTil: '2026-03-01' };
  const value = { vaerdi: 'Fusion', periode: period, sidstOpdateret: '2026-03-01T00:00:00.000Z' };
  const functions = [{ type: 'FUNKTION', sekvensnr: 0, vaerdier: [value] }];
  const merger = {
    enhedsNummerOrganisation: 4_100_000_001,
    organisationsNavn: [{ navn: 'Fusion', periode: period, sidstOpdateret: '2026-03-01T00:00:00.000Z' }],
    indgaaende: functions,
    udgaaende: comesOut ? functions : [],
  };
  const { Vrvirksomhed } = structuredClone(document) as { Vrvirksomhed: object };
  return { Vrvirksomhed: { ...Vrvirksomhed, fusioner: [merger] } };
}

describe.each(ENGINES)('the company index beside the watcher on %s', (engine) => {
  it('is empty until somebody builds it', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    expect((await readEntries(fixture.store.db, [number])).size).toBe(0);
  });

  it('is built from stored documents, and follows the register from then on', async () => {
    const fixture = await setWatch(await newStore(engine));
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    expect((await rebuild(fixture)).entries).toBe(1);
    expect((await matchRecords(fixture.store.db, [record]))[0]).toMatchObject({
      confidence: 'certain',
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

  it.each(['before', 'after', 'together', 'rebuilt'])(
    'knows the successor of a company that ended in a merger: the register reports that one %s',
    async (when) => {
      const fixture = await setWatch(await newStore(engine));
      const [one, other] = [merged(loaded(life(company, ended), 1), false), merged(loaded(life(survivor), 2), true)];
      if (when !== 'rebuilt') await rebuild(fixture);
      for (const page of { before: [[other], [one]], after: [[one], [other]] }[when] ?? [[one, other]]) {
        await fixture.tell(...page);
        await fixture.run();
      }
      if (when === 'rebuilt') await rebuild(fixture);
      const entries = await readEntries(fixture.store.db, [number, survivorNumber]);
      expect([entries.get(number)?.successor, entries.get(survivorNumber)?.successor]).toEqual([survivorNumber, null]);
      expect((await matchRecords(fixture.store.db, [record]))[0]).toMatchObject({
        confidence: 'dissolved',
        candidates: [{ company: number, successor: survivorNumber }],
      });
    },
  );
});
