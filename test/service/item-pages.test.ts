import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addItem, pageItems, removeItem } from '../../src/service/items/items.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import type { Store, Tx } from '../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';
import { made, NOW, secrets } from './monitored.ts';

const entity = (at: number): string => `CVR-1-${99_000_000 + at}`;

async function pageOf(store: Store, monitor: string, take?: number, token?: string) {
  const page = await pageItems(store.db, secrets, { monitor, take, token });
  if (!page.ok) expect.fail('the token was refused');
  return page;
}

/** A list of so many companies. */
async function filled(store: Store, count: number) {
  const { id } = await made(store);
  const rows = Array.from({ length: count }, (_, at) => ({
    monitor: id,
    entity: entity(at),
    record_id: `r${at}`,
    added_at: NOW,
  }));
  for (let at = 0; at < count; at += 500)
    await store.write((tx) =>
      tx
        .insertInto('item')
        .values(rows.slice(at, at + 500))
        .execute(),
    );
  return id;
}

async function perform(
  tx: Tx,
  monitor: string,
  steps: readonly { readonly add: boolean; readonly entity: string }[],
): Promise<void> {
  for (const { add, entity } of steps) {
    const recordId = `r${Number(entity.slice(6)) - 99_000_000}`;
    if (add) await addItem(tx, { monitor, entity, recordId, sendUpdate: false, now: NOW });
    else await removeItem(tx, { monitor, entity, recordId, now: NOW });
  }
}

describe.each(SUITE_ENGINES)('pages of items on %s', (engine) => {
  it('hold 100, or the requested number up to 1,000, and the last one has no token', async () => {
    const store = await newStore(engine);
    const id = await filled(store, 1_200);
    await filled(store, 3);
    expect((await pageOf(store, id)).items).toHaveLength(100);
    const first = await pageOf(store, id, 5_000);
    expect(first.items).toHaveLength(1_000);
    expect(first.items[0]).toEqual({ entity: entity(0), recordId: 'r0', addedAt: NOW });
    const last = await pageOf(store, id, 200, first.continuationToken);
    expect(last.items.at(-1)?.entity).toBe(entity(1_199));
    expect(last).toMatchObject({ continuationToken: undefined });
    expect(last.items).toHaveLength(200);
    expect(await pageOf(store, 'nobody')).toEqual({ ok: true, items: [], continuationToken: undefined });
  });

  it('are refused for a token that is forged, of another list or of another service', async () => {
    const store = await newStore(engine);
    const [id, other] = [await filled(store, 3), await filled(store, 3)];
    const { continuationToken: token = '' } = await pageOf(store, id, 1);
    const [body = '', mac = ''] = token.split('.');
    const elsewhere = Buffer.from(JSON.stringify([other, 0])).toString('base64url');
    const foreign = openSecrets(randomBytes(32)).sign(`items:${body}`);
    const bad = [
      '',
      '.',
      'x',
      body,
      `${body}.`,
      `.${mac}`,
      `${elsewhere}.${mac}`,
      `${body}.${foreign}`,
      `${token}.x`,
      `${token}x`.slice(1),
      '💥',
      'a'.repeat(100_000),
    ];
    for (const forged of [...bad, secrets.sign('items:'), `.${secrets.sign('items:x')}`])
      expect(await pageItems(store.db, secrets, { monitor: id, take: 1, token: forged })).toEqual({ ok: false });
    expect(await pageItems(store.db, secrets, { monitor: other, take: 1, token })).toEqual({ ok: false });
    expect(await pageItems(store.db, secrets, { monitor: id, take: 1, token })).toMatchObject({ ok: true });
  });

  it('show each lasting item exactly once while others come and go', async () => {
    const store = await newStore(engine);
    const step = fc.array(fc.record({ add: fc.boolean(), entity: fc.integer({ min: 0, max: 25 }).map(entity) }), {
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.array(step, { minLength: 1, maxLength: 6 }),
        async (take, steps) => {
          const id = await filled(store, 20);
          const stay = new Set(Array.from({ length: 20 }, (_, at) => entity(at)));
          const seen: string[] = [];
          let token: string | undefined;
          for (let at = 0; at === 0 || token !== undefined; at++) {
            const page = await pageOf(store, id, take, token);
            seen.push(...page.items.map((item) => item.entity));
            token = page.continuationToken;
            await store.write((tx) => perform(tx, id, steps[at] ?? []));
            const removed = (steps[at] ?? []).filter(({ add }) => !add);
            for (const { entity } of removed) stay.delete(entity);
          }
          for (const entity of stay) expect(seen.filter((one) => one === entity)).toEqual([entity]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('include an item that was added first and stored last', async () => {
    const store = await newStore(engine);
    // Nothing is told to it: no lane makes the callers wait for each other.
    const { id } = await made(store, { enabled: false });
    const add = (at: number, after?: () => Promise<void>) =>
      store.write(async (tx) => {
        await addItem(tx, { monitor: id, entity: entity(at), recordId: '', sendUpdate: false, now: NOW });
        await after?.();
      });
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = add(0, () => {
      begun.resolve();
      return end.promise;
    });
    await begun.promise;
    const quick = Promise.all([add(1), add(2)]);
    // They wait for the slow one; were they not to, they would be done by then.
    await Promise.race([quick, setTimeout(100)]);
    const first = await pageOf(store, id, 1);
    end.resolve();
    await Promise.all([slow, quick]);
    const rest = await pageOf(store, id, 10, first.continuationToken);
    const seen = [...first.items, ...rest.items].map((item) => item.entity);
    expect(seen.toSorted()).toEqual([0, 1, 2].map(entity));
  });
});
