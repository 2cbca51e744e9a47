import { expect, test } from 'vitest';
import type { Crm } from '../../../src/connector/crm/crm.ts';
import { resultOfWrite } from '../../../src/connector/sync/record-result.ts';
import type { Written } from '../../../src/connector/write/write.ts';
import { ENTITY } from '../../faults/company.ts';

const DAY = 86_400_000;
const crm: Pick<Crm, 'name' | 'hold' | 'only' | 'pollMinutes' | 'mapping'> = {
  ...{ name: 'crm', hold: undefined, only: undefined, pollMinutes: 10, mapping: [] },
};
const record = {
  id: '1',
  entity: ENTITY,
  syncedSeq: 0,
  facts: new Map(),
  newestSeq: 0,
  wholes: [],
  known: () => [],
  remembered: new Map(),
  overrides: new Map(),
  pending: [],
  gaps: [],
  trust: 'crm',
  origin: 'number',
  mismatch: null,
  writesNumber: false,
} as const;
const planned = [
  { field: 'name', property: 'name', action: 'write', rule: 'blank', old: null, now: 'A ApS', seq: 1 },
] as const;

const TOGETHER = 'the CRM refused city, and the two are written together or not at all';
const LOCKED = { kind: 'retry', id: '1', reason: 'locked by a flow', retryAfterMs: 60_000 } as const;

const turn = (attempts: number, now: number, outcome: Written['outcome'] = LOCKED) => {
  const claim = { queue: 'sync:crm', key: '1', fence: 1, marks: 1, attempts, since: 0, unended: 0 };
  return resultOfWrite(
    crm,
    { claim, record, planned, schema: new Map() },
    { written: { outcome, refused: {} }, fault: undefined },
    now,
  ).settlement;
};

test('a record that the CRM defers is retried, not before the time of the CRM', () => {
  const settlement = turn(0, DAY);
  expect(settlement).toMatchObject({ kind: 'again', error: 'locked by a flow' });
  expect(settlement.kind === 'again' && settlement.at - DAY).toBeGreaterThanOrEqual(60_000);
});

test.each([
  ['by the CRM, in whatever words', {}, { refused: TOGETHER }],
  ['for another one', { waitsFor: 'city' }, { planned: { action: 'skip', rule: 'together', detail: TOGETHER } }],
])('a value that was omitted %s', (_, more, expected) => {
  const claim = { queue: 'sync:crm', key: '1', fence: 1, marks: 1, attempts: 0, since: 0, unended: 0 };
  const street = { ...planned[0], field: 'street', property: 'address' } as const;
  const written = {
    outcome: { kind: 'written', id: '1' },
    refused: { address: { reason: TOGETHER, ...more } },
  } as const;
  const result = resultOfWrite(
    crm,
    { claim, record, planned: [street], schema: new Map() },
    { written, fault: undefined },
    DAY,
  );
  expect(result.decided).toMatchObject([expected]);
});

test('a record that the CRM deferred for three days waits for a person', () => {
  expect(turn(30, 4 * DAY)).toEqual({ kind: 'parked', at: 4 * DAY, error: 'locked by a flow' });
});

test('records that could not be read and written in time are retried together within a minute', () => {
  const stale = { kind: 'stale', id: '1', reason: 'the CRM takes too long to answer' } as const;
  expect(turn(9, DAY, stale)).toEqual({ kind: 'again', at: DAY + 60_000, error: stale.reason });
});
