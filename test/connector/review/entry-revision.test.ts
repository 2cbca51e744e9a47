/** An answer counts for what the person saw, and not for what became of it meanwhile. */
import { describe, expect, it } from 'vitest';
import { endLink, findLink, linkRecord, updateLink } from '../../../src/connector/links/links.ts';
import { resolveIfUnchanged } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import type { Store } from '../../../src/store/store.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';

type LinkChange = Parameters<typeof updateLink>[2];

const REF = { provider: 'hubspot', recordId: '7' };
const [COMPANY, FIRST, SECOND] = ['CVR-1-10000001', 'CVR-1-95000001', 'CVR-1-95000002'];
const because = (entity: string) => `linked by hand, but the record holds the number of ${entity}`;

async function linked(engine: (typeof ENGINES)[number]): Promise<Store> {
  const store = await newStore(engine);
  await store.write((tx) => linkRecord(tx, { ...REF, entity: COMPANY, sendUpdate: false, now: 1 }));
  return store;
}

async function seenIn(store: Store) {
  const [seen] = await readReview(store.db, 3, { kinds: ['link'] });
  return { id: seen?.id ?? '', revision: seen?.revision ?? '' };
}

const change = (store: Store, what: LinkChange) => store.write((tx) => updateLink(tx, REF, what));

describe.each(SUITE_ENGINES)('a link that waits for an answer, on %s', (engine) => {
  const conflict = async () => {
    const store = await linked(engine);
    const state = { state: 'conflict', mismatch: FIRST, reason: because(FIRST), now: 2 } as const;
    await store.write((tx) => endLink(tx, { ...REF, ...state }));
    return store;
  };

  it.each<[string, LinkChange]>([
    ['the record holds another number by now', { mismatch: SECOND, reason: because(SECOND) }],
    ['another number speaks against it for the same reason', { mismatch: SECOND }],
    ['another reason speaks against it', { reason: 'merged into a record of another company' }],
  ])('is not answered if %s', async (_, what) => {
    const store = await conflict();
    const seen = await seenIn(store);
    await change(store, what);
    for (const verb of ['accept', 'keep'] as const)
      expect((await store.write((tx) => resolveIfUnchanged(tx, verb, seen, 4))).kind).toBe('changed');
    expect(await findLink(store.db, REF)).toMatchObject({ state: 'conflict', ...what });
    const current = await seenIn(store);
    expect((await store.write((tx) => resolveIfUnchanged(tx, 'accept', current, 4))).kind).toBe('done');
  });

  it('accepts the answer if only hidden state changed', async () => {
    const store = await conflict();
    const seen = await seenIn(store);
    await change(store, { observed_error: 'the service is away' });
    expect((await store.write((tx) => resolveIfUnchanged(tx, 'accept', seen, 4))).kind).toBe('done');
  });

  it('is not answered if the service now refuses it for another reason', async () => {
    const store = await linked(engine);
    await change(store, { observed: 'refused', observed_error: 'no add-on' });
    const seen = await seenIn(store);
    await change(store, { observed_error: 'no such company' });
    expect((await store.write((tx) => resolveIfUnchanged(tx, 'drop', seen, 4))).kind).toBe('changed');
  });
});
