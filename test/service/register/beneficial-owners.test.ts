/** Beneficial owners are not public: nothing of them is stored or sent without a legal basis. */
import { describe, expect, it } from 'vitest';
import { readDeliveryBody } from '../../../src/service/delivery/bodies.ts';
import { listDeliveries } from '../../../src/service/delivery/deliveries.ts';
import { readFullStates } from '../../../src/service/items/full-state.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import { stateOf } from '../../../src/service/register/diff/state.ts';
import { testPayload } from '../../../src/service/test-webhook/test-webhook.ts';
import type { Store } from '../../../src/store/store.ts';
import { type ENGINES, newFolder, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { changed, made, NOW } from '../monitored.ts';
import { document, ENTITY, name, OPTIONS, person, relation, trulyOwns } from './documents.ts';
import { START, setWatch, type WatchOptions } from './watch-fixture.ts';

const OWNER = 'Ejer Efternavn';

/** The company with a share of its beneficial owner, as it is loaded so many seconds after the start. */
const company = (share: string, seconds: number, called = 'Prøve ApS') =>
  document({
    navne: [name(called)],
    deltagerRelation: [relation(person(4_000_700_001, OWNER), trulyOwns(share, share))],
    sidstIndlaest: new Date(START + seconds * 1_000).toISOString(),
  });

const kept = async ({ db }: Store): Promise<string> =>
  JSON.stringify([
    await db.selectFrom('snapshot').selectAll().execute(),
    await db.selectFrom('change').selectAll().execute(),
    await db.selectFrom('news').selectAll().execute(),
  ]);

/** A store whose watcher is started anew with other settings, and reads on. */
async function watched(engine: (typeof ENGINES)[number]) {
  const store = await newStore(engine);
  const folder = newFolder();
  const news = {
    baseUrl: 'https://service.example.com',
    registryProvider: 'CVR',
    pressProvider: 'Press',
    gazetteProvider: 'Statstidende',
  };
  return {
    store,
    async load(beneficialOwners: boolean, ...documents: readonly unknown[]): Promise<readonly string[]> {
      const options: WatchOptions = { folder, beneficialOwners, publish: { news } };
      const fixture = await setWatch(store, options);
      const before = await fixture.events();
      await fixture.tell(...documents);
      await fixture.run();
      return (await fixture.events()).slice(before.length);
    },
    async fullState(): Promise<readonly string[]> {
      const { company } = (await readFullStates(store.db, [ENTITY])).get(ENTITY) ?? {};
      if (company === undefined) throw new Error('the company is not stored');
      return Object.keys(stateOf(company, OPTIONS));
    },
  };
}

describe.each(SUITE_ENGINES)('beneficial owners on %s', (engine) => {
  it('are neither stored nor sent if the configuration names no legal basis', async () => {
    const { store, load, fullState } = await watched(engine);
    await load(false, company('0.5', 0));
    expect(await load(false, company('0.25', 60, 'Prøve Ny ApS'))).toEqual([`${ENTITY} name`]);
    expect(await kept(store)).not.toContain(OWNER);
    expect(await fullState()).not.toEqual(expect.arrayContaining(['trueOwnership']));
  });

  it('are sent from the first change on after a legal basis was named', async () => {
    const { store, load } = await watched(engine);
    await load(false, company('0.5', 0));
    expect(await load(true, company('0.5', 60, 'Prøve Ny ApS'))).toEqual([`${ENTITY} name`]);
    expect(await load(true, company('0.25', 120, 'Prøve Ny ApS'))).toEqual([
      `${ENTITY} trueOwnership`,
      `${ENTITY} trueVoteRights`,
    ]);
    expect(await kept(store)).toContain(OWNER);
  });

  it('are dropped if a caller does not state that they are allowed, and the rest of the change is kept', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    const trueOwnership = { added: [], removed: [], changed: [] };
    const both = changed({ updates: { ...changed().updates, trueOwnership } });
    await store.write((tx) => publish(tx, [both, changed({ updates: { trueOwnership } })], { now: NOW }));
    const stored = await store.db.selectFrom('change').select('updates').execute();
    expect(stored.map(({ updates }) => Object.keys(JSON.parse(updates)))).toEqual([['name']]);
  });

  it('are omitted from a webhook that was due when the legal basis ended', async () => {
    const store = await newStore(engine);
    await made(store, { target: 'all' });
    const owner = { entityId: 'CVR-3-4000700001', name: OWNER, type: 'Person', ownership: '50' };
    const trueOwnership = { added: [owner], removed: [], changed: [] };
    const change = changed({ updates: { ...changed().updates, trueOwnership } });
    await store.write((tx) => publish(tx, [change], { now: NOW, beneficialOwners: true }));
    const [{ seq } = expect.fail()] = await listDeliveries(store.db);
    const bodyWith = async (beneficialOwners: boolean) =>
      (await readDeliveryBody(store.db, seq, { beneficialOwners }))?.bytes.toString() ?? '';
    expect(await bodyWith(true)).toContain(OWNER);
    const body: unknown = JSON.parse(await bodyWith(false));
    expect(body).toMatchObject({ updates: { name: { updated: true }, trueOwnership: { updated: false } } });
    expect(JSON.stringify(body)).not.toContain(OWNER);
  });

  it('are omitted from a test of a webhook while a company is stored from before the legal basis ended', async () => {
    const { store, load } = await watched(engine);
    await load(true, company('0.5', 0));
    const tested = async (options: { beneficialOwners?: boolean }) =>
      JSON.stringify(await testPayload(store.db, ENTITY, { now: START, placeType: 'Place', ...options }));
    expect(await tested({ beneficialOwners: true })).toContain(OWNER);
    for (const options of [{ beneficialOwners: false }, {}]) expect(await tested(options)).not.toContain(OWNER);
    expect(await tested({})).toContain('Prøve ApS');
  });

  it('are deleted with the next document after the legal basis ended, and nobody is notified that they left', async () => {
    const { store, load, fullState } = await watched(engine);
    await load(true, company('0.5', 0));
    expect(await fullState()).toContain('trueOwnership');
    expect(await load(false, company('0.25', 60, 'Prøve Ny ApS'))).toEqual([`${ENTITY} name`]);
    const bodies = await store.db.selectFrom('snapshot').select('body').execute();
    expect(JSON.stringify(bodies)).not.toContain(OWNER);
  });
});
