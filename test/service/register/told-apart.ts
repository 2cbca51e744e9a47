/** A store with two sources that state different values of some companies, for half a day. */

import type { Origin } from '../../../src/service/register/source/source.ts';
import { ingestPage } from '../../../src/service/register/watch/ingest-page.ts';
import { familiesOf } from '../../../src/service/register/watch/origins/origins.ts';
import { storeComparing } from '../../../src/service/register/watch/origins/second-readings.ts';
import type { Store } from '../../../src/store/store.ts';
import { contact, document } from './documents.ts';
import { setWatch } from './watch-fixture.ts';

const HOUR = 3_600_000;
const ORDER = ['cvr', 'datafordeler'] as const satisfies readonly Origin[];

export async function tellApart(
  store: Store,
  { now, companies, differing }: { readonly now: number; readonly companies: number; readonly differing: number },
): Promise<void> {
  const { deps } = await setWatch(store, { now: () => now - 12 * HOUR, origins: ORDER });
  await store.write((tx) => storeComparing(tx, ORDER, now));
  for (const origin of ORDER) {
    const documents = Array.from({ length: companies }, (_, at) =>
      document({
        cvrNummer: 95_000_000 + at,
        telefonNummer: [contact(origin === 'cvr' || at >= differing ? '70100001' : '70100002')],
        // A later document says the same again.
        sidstIndlaest: new Date(now - 24 * HOUR + (differing === 0 ? HOUR : 0)).toISOString(),
      }),
    );
    await ingestPage(deps, documents, {
      ...{ claims: [], broken: [], origin, families: familiesOf(origin) },
      begin: async () => {},
    });
  }
}
