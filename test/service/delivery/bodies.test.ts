/** Bodies that are cached between attempts: concurrent loads lose none, and none outlives an erasure. */
import { describe, expect, it } from 'vitest';
import type { Updates } from '../../../src/protocol/payload.ts';
import { createBodies, readDeliveryBody } from '../../../src/service/delivery/bodies.ts';
import { dueHeads, type Head } from '../../../src/service/delivery/due.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import { beginErasure } from '../../../src/store/erasure/erasures.ts';
import type { Store } from '../../../src/store/store.ts';
import { eraseByHand } from '../../commands/erase/by-hand.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { delivering, openHook, statuses } from '../delivering.ts';
import { changed, made, NOW, OTHER, PERSON } from '../monitored.ts';

const NAME = 'Asta Skovlund';
const MEMBER = { entityId: PERSON, name: NAME, type: 'Person' };
const BOARD: Updates = { board: { added: [MEMBER], removed: [] } };

async function published(store: Store, ...changes: Parameters<typeof publish>[1]): Promise<readonly Head[]> {
  const { id } = await made(store, { target: 'all' });
  await store.write((tx) => publish(tx, changes, { now: NOW }));
  return dueHeads(store.db, id, NOW, 1_000);
}

describe.each(SUITE_ENGINES)('bodies of deliveries on %s', (engine) => {
  it('omit an entity at a retry if it was erased after the first attempt', async () => {
    const store = await newStore(engine);
    const hook = await openHook(statuses(500, 204));
    await made(store, { url: hook.url, target: 'all' });
    const { publish: tell, worker, later } = delivering(store);
    await tell(changed({ updates: BOARD }));
    await worker.drained();
    await eraseByHand(store, PERSON);
    await later(3_600_000);
    expect(hook.seen).toHaveLength(2);
    const [first, second] = hook.seen.map(({ body }) => body);
    expect(first).toContain(NAME);
    expect(second).toContain('(erased)');
    for (const word of [NAME, PERSON]) expect(second).not.toContain(word);
  });

  it('leave no erased entity in the answer to a post that ran as the erasure began, and no orphaned attempt', async () => {
    const store = await newStore(engine);
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const answers: (() => void)[] = [];
    const hook = await openHook((response, { body }) => {
      answers.push(() => void response.writeHead(500).end(body));
      if (answers.length === 2) ask();
    });
    await made(store, { url: hook.url, target: 'all' });
    const { publish: tell, worker } = delivering(store, { deadlineMs: 60_000 });
    await tell(
      changed({ updates: BOARD }),
      changed({ entity: OTHER, updates: { website: { before: null, after: 'https://oester.example' } } }),
    );
    await asked;
    for (const entity of [PERSON, OTHER]) await eraseByHand(store, entity);
    for (const answer of answers) answer();
    await worker.drained();
    const attempts = await store.db.selectFrom('attempt').select(['status', 'answer', 'headers']).execute();
    expect(attempts).toEqual([{ status: 500, answer: null, headers: null }]);
  });

  it('omit an entity if its erasure has begun but has not reached the change', async () => {
    const store = await newStore(engine);
    const heads = await published(store, changed({ updates: BOARD }));
    const bodies = createBodies({});
    await bodies.load(store.db, heads);
    await store.write((tx) => beginErasure(tx, { entities: [PERSON], names: [] }, '{}', NOW));
    const [body] = await bodies.load(store.db, heads);
    expect(body?.bytes.toString()).not.toContain(NAME);
    expect(await readDeliveryBody(store.db, heads[0]?.seq ?? 0, {})).toEqual(body);
  });
});

// SQLite answers in the order it was asked: the eviction comes between what the second load finds and what it returns.
it('bodies of deliveries stay available while other loads evict them', async () => {
  const store = await newStore('sqlite');
  const large = { name: { before: null, after: 'x'.repeat(12 * 1024 * 1024) } };
  const filling = [1, 2, 3].map((at) => changed({ entity: `CVR-1-9910000${at}`, updates: large }));
  const heads = await published(store, changed(), changed({ entity: OTHER }), ...filling);
  const [kept = expect.fail(), fresh = expect.fail(), ...others] = heads;
  const bodies = createBodies({});
  await bodies.load(store.db, [kept]);
  const [, both] = await Promise.all([bodies.load(store.db, others), bodies.load(store.db, [kept, fresh])]);
  expect(both.map((body) => body?.change)).toEqual([expect.any(String), expect.any(String)]);
});
