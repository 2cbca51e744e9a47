/** Whether a value that stands after a lost answer is ours: only a history that holds the value itself says so. */
import { expect, test } from 'vitest';
import type { PropertyEdit } from '../../../providers/provider.ts';
import type { PropertyMemory } from '../../../src/connector/decide/memory.ts';
import type { Planned } from '../../../src/connector/decide/planned.ts';
import { recogniseStored } from '../../../src/connector/sync/recognise.ts';
import { ENTITY } from '../../faults/company.ts';

const SENT_AT = 1_000_000;
const from = { queue: 'sync:crm', key: '1', fence: 1, at: SENT_AT, detail: '[]' } as const;
const memory: PropertyMemory = {
  written: undefined,
  stored: undefined,
  writtenAt: 0,
  restored: undefined,
  refused: undefined,
  trusted: false,
  kept: undefined,
  overwritten: undefined,
  pending: [{ field: 'name', old: 'A ApS', now: 'B ApS', seq: 1, from }],
};
const record = {
  id: '1',
  entity: ENTITY,
  syncedSeq: 0,
  facts: new Map(),
  newestSeq: 1,
  wholes: [],
  known: () => [],
  remembered: new Map([['name', memory]]),
  overrides: new Map(),
  pending: [],
  gaps: [],
  trust: 'crm',
  origin: 'number',
  mismatch: null,
  writesNumber: false,
} as const;
const planned: Planned = {
  ...{ field: 'name', property: 'name', action: 'keep', rule: 'edited' },
  ...{ old: "Ida's own", now: 'B ApS', seq: 1 },
};

const recognise = (edit: Omit<PropertyEdit, 'id' | 'property' | 'by'>) =>
  recogniseStored(
    { edits: async () => [{ id: '1', property: 'name', by: 'cvrsync', ...edit }] },
    [{ record, planned: [planned] }],
    AbortSignal.timeout(10_000),
  );

test('a value that the history shows as ours is recognised', async () => {
  const [found] = (await recognise({ at: SENT_AT, own: true, value: "Ida's own" }))?.records ?? [];
  expect(found?.remembered.get('name')?.pending).toMatchObject([{ stored: "Ida's own" }]);
});

test("a person's value does not count as ours because of a write to other properties of the record", async () => {
  expect(await recognise({ at: SENT_AT, own: true })).toBeUndefined();
});
