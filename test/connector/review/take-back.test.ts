/** Answers of review that are taken back: what each replaced is there again. */
import { describe, expect, it } from 'vitest';
import { SAFETY_LIMIT_KEY } from '../../../src/connector/follow/safety-limit.ts';
import { quarantineEvent } from '../../../src/connector/intake/quarantined.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { restoreReusedIds } from '../../../src/connector/intake/reused-ids.ts';
import { endLeft, markLeft } from '../../../src/connector/links/left.ts';
import { endLink, findLink, linkRecord, updateLink } from '../../../src/connector/links/links.ts';
import { canTakeBack, readAnswers } from '../../../src/connector/review/given-answers.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { idOf, type ReviewKind, type ReviewVerb, readReviewId } from '../../../src/connector/review/review-kinds.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { takeBack } from '../../../src/connector/review/take-back.ts';
import { STORE_TASKS } from '../../../src/runtime/housekeeping/periodic-tasks.ts';
import { park } from '../../../src/runtime/lanes/lane-state.ts';
import { setAside } from '../../../src/store/erasure/quarantine.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const ENTITY = 'CVR-1-12345674';
const REF = { provider: 'crm', recordId: '1' };
const waiting = ({ db }: Store) => readReview(db, 9, {});
const MONITOR = {
  id: 'm1',
  name: 'Customers',
  owner: null,
  provider: null,
  target: 'all',
  events: null,
  url: null,
  security: '',
  schedule: null,
  posts_per_minute: null,
  next_post_at: null,
  emails: '[]',
  mail_frequency: 'daily',
  enabled: 1,
  enabled_at: 1,
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  failed_attempts: 0,
  notices: 0,
  created_at: 1,
  updated_at: 1,
} as const;

/** Puts one thing of each kind in review that a store has by itself. */
const PUT: Readonly<Record<string, (tx: Tx) => Promise<unknown>>> = {
  lane: (tx) => park(tx, 'apply', ENTITY, { at: 5, error: 'it failed' }),
  limit: (tx) => park(tx, 'heal:crm', SAFETY_LIMIT_KEY, { at: 5, error: '99 links would end' }),
  async event(tx) {
    await insertReceipts(tx, [{ key: 'k', entity: ENTITY, timestamp: '2099-01-01T00:00:00.000Z', body: '{}' }], 3);
    await quarantineEvent(tx, 1, 'dated ahead');
  },
  sender: (tx) => restoreReusedIds(tx, { count: 3, since: 2, id: 'msg', entity: ENTITY, isTaken: true }, 2),
  async mail(tx) {
    await tx.insertInto('monitor').values(MONITOR).execute();
    const refused = { monitor: 'm1', at: 4, bounced: '550 no such user', refusals: 1, in_review: 1 };
    await tx
      .insertInto('unsubscribed')
      .values([
        { ...refused, recipient: 'a@birk.example', retry_at: 77 },
        { ...refused, recipient: 'b@birk.example', retry_at: null },
      ])
      .execute();
  },
  body: (tx) => setAside(tx, { source: 'webhook', reason: 'no JSON', body: Buffer.from('{'), now: 1 }),
  async conflict(tx) {
    await linkRecord(tx, { ...REF, entity: ENTITY, sendUpdate: false, now: 1, origin: 'number' });
    await endLink(tx, { ...REF, state: 'conflict', reason: 'two companies', mismatch: 'CVR-1-95000002', now: 2 });
  },
  async refused(tx) {
    await linkRecord(tx, { ...REF, entity: ENTITY, sendUpdate: false, now: 1 });
    await updateLink(tx, REF, { observed: 'refused', observed_error: 'no add-on' });
  },
};

const kindOf = (id: string): ReviewKind => readReviewId(id)?.kind ?? 'account';

describe.each(SUITE_ENGINES)('an answer of review, on %s', (engine) => {
  const put = async (what: string) => {
    const store = await newStore(engine);
    await store.write((tx) => PUT[what]?.(tx) ?? Promise.resolve());
    const before = await waiting(store);
    expect(before).toHaveLength(1);
    return { store, before, id: before[0]?.id ?? '', verbs: before[0]?.verbs ?? [] };
  };
  const answer = async (store: Store, verb: ReviewVerb, id: string) =>
    (await store.write((tx) => resolveReview(tx, verb, id, 6))).kind;
  const back = (store: Store, id: string) => store.write((tx) => takeBack(tx, id, 7));

  it.each([
    ['lane', 'drop'],
    ['limit', 'keep'],
    ['event', 'drop'],
    ['sender', 'drop'],
    ['mail', 'drop'],
  ] as const)('to a %s (%s) is taken back: it waits as before, once', async (what, verb) => {
    const { store, before, id } = await put(what);
    const addresses = () =>
      store.db.selectFrom('unsubscribed').select(['recipient', 'retry_at', 'in_review']).orderBy('recipient').execute();
    const refused = await addresses();
    expect(await answer(store, verb, id)).toBe('done');
    expect(await waiting(store)).toEqual([]);
    expect(await readAnswers(store.db, 9)).toEqual([{ subject: id, verb, at: 6 }]);
    expect(await back(store, id)).toEqual({ kind: 'done', note: 'it is in review again', written: [] });
    expect(await waiting(store)).toEqual(before);
    expect(await addresses()).toEqual(refused);
    expect(await back(store, id)).toEqual({ kind: 'unknown' });
    expect(await readAnswers(store.db, 9)).toEqual([]);
  });

  it.each([
    ['conflict', 'accept', 'active'],
    ['conflict', 'keep', 'removed'],
    ['refused', 'drop', 'removed'],
  ] as const)(
    'to a link in %s (%s) is undone, and the link is as before unless it changed',
    async (what, verb, state) => {
      const { store, id } = await put(what);
      const before = await findLink(store.db, REF);
      expect(await answer(store, verb, id)).toBe('done');
      expect(await findLink(store.db, REF)).toMatchObject({ state });
      await store.write((tx) => updateLink(tx, REF, { state: 'gone' }));
      expect(await back(store, id)).toEqual({ kind: 'changed' });
      await store.write((tx) => updateLink(tx, REF, { state }));
      await store.write((tx) => markLeft(tx, REF.provider, { at: 6, by: 'Ida', run: 1 }));
      expect(await back(store, id)).toEqual({ kind: 'changed' });
      await store.write((tx) => endLeft(tx, REF.provider));
      expect(await back(store, id)).toMatchObject({ kind: 'done', written: [] });
      const { entity, reason, mismatch, desired, origin } = before ?? {};
      expect(await findLink(store.db, REF)).toMatchObject({
        ...{ entity, reason, mismatch, desired, origin, state: before?.state },
        observed: 'unknown',
        send_update: 1,
      });
    },
  );

  it.each(Object.keys(PUT))('to a %s is stored exactly if it can be undone', async (what) => {
    for (const verb of (await put(what)).verbs) {
      const { store, id } = await put(what);
      expect(await answer(store, verb, id)).toBe('done');
      const kept = (await readAnswers(store.db, 9)).map(({ subject }) => subject);
      expect(kept, verb).toEqual(canTakeBack(verb, kindOf(id)) ? [id] : []);
    }
  });

  it('is not undone in place of a later one that cannot be undone', async () => {
    const { store, id } = await put('lane');
    await answer(store, 'drop', id);
    await store.write((tx) => PUT['lane']?.(tx) ?? Promise.resolve());
    expect(await back(store, id)).toEqual({ kind: 'changed' });
    expect(await answer(store, 'retry', id)).toBe('done');
    expect(await back(store, id)).toEqual({ kind: 'unknown' });
    expect((await back(store, idOf('lane', 'apply', 'nothing'))).kind).toBe('unknown');
  });

  it('is stored as long as runs', async () => {
    const { store, id } = await put('lane');
    await answer(store, 'drop', id);
    const prune = (now: number) => STORE_TASKS['answers']?.run({ store, now: () => now }, AbortSignal.timeout(9_000));
    await prune(89 * 86_400_000);
    expect(await readAnswers(store.db, 9)).toHaveLength(1);
    await prune(91 * 86_400_000);
    expect(await readAnswers(store.db, 9)).toEqual([]);
  });
});
