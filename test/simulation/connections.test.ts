/** What the world knows of its PostgreSQL: what is answered, and which connection waits for which. */
import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../src/store/engines/postgres.ts';
import { readAnswers } from './answers.ts';
import { stuckOf } from './connections.ts';
import { postgresAt } from './engine.ts';

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
};

describe('the answers of PostgreSQL', () => {
  const sent = Buffer.concat([
    message('K', Buffer.from([0, 0, 4, 210, 9, 9, 9, 9])),
    message('Z', Buffer.from('I')),
    // A row that looks like the end of an answer.
    message('D', message('Z', Buffer.from('I'))),
    message('Z', Buffer.from('T')),
  ]);
  const found = [
    { kind: 'process', pid: 1234 },
    { kind: 'ready', state: 'I' },
    { kind: 'ready', state: 'T' },
  ];

  test('say which process answers, and when all that was asked is answered', () => {
    expect(readAnswers()(sent)).toEqual(found);
  });

  test('are the same in whatever pieces they arrive', () => {
    for (let size = 1; size < sent.length; size += 1) {
      const read = readAnswers();
      const pieces = Array.from({ length: Math.ceil(sent.length / size) }, (_, index) =>
        sent.subarray(index * size, (index + 1) * size),
      );
      expect(pieces.flatMap((piece) => read(piece))).toEqual(found);
    }
  });
});

describe('a statement', () => {
  const busy = new Set([1, 2, 3]);
  const stuck = (...waits: readonly (readonly [number, ...number[]])[]) => [
    ...stuckOf(
      waits.map(([pid, ...blockers]) => ({ pid, blockers })),
      (pid) => busy.has(pid),
    ),
  ];

  test('is stuck if it waits, perhaps through others, for a connection that does nothing', () => {
    expect(stuck([1, 9])).toEqual([1]);
    expect(stuck([1, 2], [2, 9], [3, 1]).toSorted()).toEqual([1, 2, 3]);
  });

  test('is not stuck if it waits for one that continues, or the server is about to end a deadlock', () => {
    expect(stuck([1, 2])).toEqual([]);
    expect(stuck([1, 2], [2, 1])).toEqual([]);
  });
});

test('the server of a world ends no transaction by the time of the machine', async () => {
  const time = () => {
    throw new Error('no world is there');
  };
  const engine = await postgresAt(inject('postgres'), { seed: 1, time });
  const store = openPostgres(engine.url);
  onTestFinished(async () => {
    await store.close();
    await engine.close();
    await engine.remove();
  });
  const shown = await sql`show idle_in_transaction_session_timeout`.execute(store.db);
  expect(shown.rows).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
});
