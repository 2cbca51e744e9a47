/** What the contract asks of entries of review. */
import { linkRecord } from '../../src/connector/links/links.ts';
import { resolveReview } from '../../src/connector/review/resolve.ts';
import { COMPANY } from '../service/monitored.ts';
import { type Case, NEW, NOBODY } from './case.ts';
import type { Faces } from './faces.ts';

let made = 17_000;

/** A link that waits for an answer; its entry. */
const entry =
  (is: 'conflict' | 'refused') =>
  async ({ store }: Faces): Promise<readonly [string]> => {
    const recordId = String(++made);
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'hubspot', recordId, entity: COMPANY, sendUpdate: false, now: 1 });
      const change = is === 'conflict' ? ({ state: 'conflict' } as const) : ({ observed: 'refused' } as const);
      await tx.updateTable('link').set(change).where('record_id', '=', recordId).execute();
    });
    return [`link/hubspot/${recordId}`];
  };

const answered = async (faces: Faces): Promise<readonly [string]> => {
  const [id] = await entry('refused')(faces);
  await faces.store.write((tx) => resolveReview(tx, 'drop', id, 2));
  return [id];
};

/** A record for which a company was found. */
const matched = async ({ store }: Faces): Promise<readonly [string, string]> => {
  const recordId = String(++made);
  const candidates = [{ company: '10000001', name: 'Birk ApS', score: 1, findings: [], ended: null, successor: null }];
  const body = JSON.stringify({ recordId, position: 0, confidence: 'likely', record: {}, candidates });
  const row = { provider: 'hubspot', record_id: recordId, position: 0, confidence: 'likely', entity: COMPANY, body };
  await store.write((tx) =>
    tx
      .insertInto('match_result')
      .values({ ...row, suggested_at: 1 })
      .execute(),
  );
  return [recordId, `hubspot:${recordId}`];
};

const idOf = (id: string): string => (id === NOBODY ? 'link/hubspot/404' : id);

const answer = (verb: 'retry' | 'drop' | 'accept' | 'keep', is: 'conflict' | 'refused'): Case => ({
  operation: `review.${verb}`,
  what: `to a link that is ${is}`,
  make: entry(is),
  ask: (id) => ({
    command: ['review', verb, idOf(id)],
    api: ['POST', `/review/${verb}`, { id: idOf(id) }],
    page: ['/inbox/answers', { choice: ` ${idOf(id)}`, verb: `${verb}-link`, sure: 'yes' }],
  }),
  result:
    verb === 'retry' || verb === 'accept'
      ? 'the link is active, monitoring is asked for'
      : 'the link is removed, monitoring ends',
  again: 404,
});

export const REVIEW_CASES: readonly Case[] = [
  answer('retry', 'refused'),
  answer('drop', 'refused'),
  answer('accept', 'conflict'),
  answer('keep', 'conflict'),
  {
    operation: 'review.takeBack',
    what: 'of an answer',
    make: answered,
    ask: (id) => ({
      command: ['review', 'take-back', idOf(id)],
      api: ['POST', '/review/take-back', { id: idOf(id) }],
      page: ['/inbox/back', { choice: idOf(id) }],
    }),
    result: 'the link is as it was before the answer',
    again: 404,
  },
  {
    operation: 'review.import',
    what: 'of an answer to failed work',
    make: async () => NEW,
    ask: () => ({
      api: ['POST', '/runs/answer-list', { answers: [{ id: 'lane/sync:crm/7', answer: 'retry' }] }],
    }),
    result: undefined,
  },
  {
    operation: 'match.reject',
    what: 'of all companies that were found',
    make: matched,
    ask: (id) => ({
      api: ['POST', '/match/reject', { provider: 'hubspot', record: id === NOBODY ? '404' : id }],
    }),
    result: 'done',
    again: 404,
  },
];
