/** An edit between our read and our write: what becomes of the patches of records that are read again. */
import { describe, expect, it } from 'vitest';
import type { Connection, Outcome, Patch } from '../../../providers/provider.ts';
import type { Freshness } from '../../../src/connector/write/freshness.ts';
import { writePatches } from '../../../src/connector/write/write.ts';

const signal = new AbortController().signal;
const PATCH: Patch = { id: '7', properties: { name: 'B ApS', phone: '12345678' } };

/** A CRM that gives these answers one after the other; what was sent to it, in order. */
function crmThat(...answers: readonly Outcome[]) {
  const sent: (readonly Patch[])[] = [];
  const connection: Connection = {
    check: async () => ({ id: '1', name: 'x', notes: [] }),
    properties: async () => [],
    read: async () => [],
    scan: async () => ({ records: [] }),
    async update(patches) {
      sent.push(patches);
      const answer = answers[sent.length - 1];
      if (answer === undefined) throw new Error('no more answers');
      return [answer];
    },
  };
  return { connection, sent };
}

const YOUNG: Omit<Freshness, 'renew'> = {
  guard() {},
  isStale: () => false,
  age: () => 0,
  widen() {},
  answered: () => ({ from: 1, to: 2 }),
};

/** Stops the write of one round, as if its read had grown old. */
function staleIn(round: number, sent: readonly unknown[], renew: Freshness['renew']): Freshness {
  let renewed = false;
  return {
    ...YOUNG,
    isStale: () => !renewed && sent.length === round,
    renew(ids) {
      renewed = sent.length === round;
      return renew(ids);
    },
  };
}

const stopped: Outcome = { kind: 'retry', id: '7', reason: 'read too long ago' };
const written: Outcome = { kind: 'written', id: '7' };

describe('a record that is read again before it is written', () => {
  it('has the fault of a failed read as its outcome, and nothing is sent', async () => {
    const { connection, sent } = crmThat(stopped);
    const error = new Error('the CRM is away');
    const fresh = staleIn(1, sent, () => Promise.reject(error));
    const results = await writePatches(connection, [PATCH], signal, { fresh });
    expect(results.get('7')).toEqual({ outcome: { kind: 'fault', id: '7', error, unsent: true }, refused: {} });
    expect(sent).toHaveLength(1);
  });

  it('is decided and written again, without refused values', async () => {
    const refusal: Outcome = { kind: 'rejected', id: '7', reason: 'no', properties: { phone: 'no phone' } };
    const { connection, sent } = crmThat(refusal, stopped, written);
    const fresh = staleIn(2, sent, async () => [{ id: '7', properties: { name: 'C ApS', phone: '12345678' } }]);
    const results = await writePatches(connection, [PATCH], signal, { fresh });
    expect(sent.at(-1)).toEqual([{ id: '7', properties: { name: 'C ApS' } }]);
    expect(results.get('7')).toEqual({
      outcome: written,
      refused: { phone: { reason: 'no phone' } },
      window: { from: 1, to: 2 },
    });
  });

  it('is done without a call if nothing is left to write', async () => {
    const { connection, sent } = crmThat(stopped);
    const fresh = staleIn(1, sent, async () => [{ id: '7', properties: {} }]);
    const results = await writePatches(connection, [PATCH], signal, { fresh });
    expect(results.get('7')).toEqual({ outcome: written, refused: {} });
    expect(sent).toHaveLength(1);
  });
});
