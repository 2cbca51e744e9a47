/** A store that two sources fill, each in its own words. */
import type { Origin } from '../../../src/service/register/source/source.ts';
import { ingestPage } from '../../../src/service/register/watch/ingest-page.ts';
import { familiesOf } from '../../../src/service/register/watch/origins/origins.ts';
import type { Store } from '../../../src/store/store.ts';
import { loadedAgain, translated, type Wording } from './source/datafordeler/translated.ts';
import { setWatch } from './watch-fixture.ts';

export const HOUR = 3_600_000;
/** Datafordeler writes names and streets its own way. */
const worded: Wording = (text) => text.replace(/\s+/gu, '  ').replace('ApS', 'Anpartsselskab');

export type Json = Readonly<Record<string, unknown>>;

export async function twoSources(store: Store) {
  const watch = await setWatch(store);
  return {
    ...watch,
    /** Both sources' documents of the same state, each in its own words. */
    async say(origin: Origin, order: readonly Origin[], document: Json, loadedAt = watch.now()) {
      const said = origin === 'cvr' ? loadedAgain(document, loadedAt) : translated(document, loadedAt, worded);
      await ingestPage({ ...watch.deps, origins: order }, [said], {
        claims: [],
        broken: [],
        families: familiesOf(origin),
        origin,
        begin: async () => {},
      });
    },
  };
}

export const ORDERS: readonly (readonly Origin[])[] = [
  ['cvr'],
  ['datafordeler'],
  ['cvr', 'datafordeler'],
  ['datafordeler', 'cvr'],
];
