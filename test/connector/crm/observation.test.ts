import { describe, expect, it } from 'vitest';
import { readObservation as read } from '../../../src/connector/crm/answer-check/answers.ts';
import { maskerFor } from '../../../src/connector/crm/answer-check/values.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const readObservation = (answer: unknown) => read(answer, maskerFor());
const DAY_MS = 24 * 3_600_000;

describe("a provider's observation of headers", () => {
  it('is used unchanged if it is valid', () => {
    const sound = { budget: 'search', remaining: 3, pauseMs: 5_000, reason: 'the daily limit' };
    expect(readObservation(sound)).toEqual(sound);
  });

  it('pauses the account for a day at most', () => {
    expect(readObservation({ pauseMs: 1e18 })).toEqual({ pauseMs: DAY_MS });
    expect(readObservation({ pauseMs: Number.POSITIVE_INFINITY })).toEqual({ pauseMs: DAY_MS });
  });

  it('is ignored if it is invalid', () => {
    expect(readObservation(null)).toBeUndefined();
    expect(readObservation({ pauseMs: Number.NaN, remaining: '3', reason: { a: 1 } })).toEqual({});
    expect(readObservation({ pauseMs: -1 })).toEqual({});
  });

  it('shortens a reason for people', () => {
    expect(readObservation({ pauseMs: 1, reason: 'r'.repeat(20_000) })?.reason).toHaveLength(1_000);
  });
});

it.each(SUITE_ENGINES)('a pause without an end that an earlier version stored is listed, on %s', async (engine) => {
  const store = await newStore(engine);
  const row = { key: 'crm/*', next_at: 0, blocked_until: 1e18, blocked_since: 0, reason: null, fault: 'rate' };
  await store.write((tx) => tx.insertInto('rate_limit').values(row).execute());
  expect(await readReview(store.db, 1, { limit: 10 })).toMatchObject([
    { kind: 'account', reason: expect.stringContaining('cvrsync does not call it before') },
  ]);
});
