import { describe, expect, it } from 'vitest';
import { entityOf, readTimeline } from '../../../src/connector/explain/timeline.ts';
import { extract } from '../../../src/connector/facts/extract.ts';
import { type Fact, fold } from '../../../src/connector/facts/fact.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { payloadOf, readPayload, type Updates, writePayload } from '../../../src/protocol/payload.ts';
import type { Store } from '../../../src/store/store.ts';
import { asStored } from '../../support/history.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';

const NOW = Date.UTC(2026, 2, 5);
const COMPANY = 'CVR-1-10000001';
const options = { now: NOW, emailEvent: 'email', limit: 50 };

const receipt = (day: number, updates: Updates, body?: string) => {
  const timestamp = `2026-03-0${day}T00:00:00.000Z`;
  const wire = writePayload(payloadOf(COMPANY, timestamp, updates));
  return {
    dedupe_key: `${day}`,
    entity: COMPANY,
    timestamp,
    body: body ?? JSON.stringify(wire),
    received_at: NOW,
    applied_at: NOW,
  };
};
const person = { entityId: 'CVR-3-4000000001', name: 'Attrap Papir', type: 'Person' };

async function lived(engine: (typeof ENGINES)[number]): Promise<Store> {
  const store = await newStore(engine);
  const receipts = [
    receipt(2, { name: { before: null, after: 'Skitse ApS' }, board: { added: [person], removed: [] } }),
    receipt(1, { name: { before: null, after: 'Papir ApS' }, phoneNumber: { before: null, after: '10203040' } }),
  ];
  await store.write(async (tx) => {
    await tx.insertInto('receipt').values(receipts).execute();
    await tx
      .insertInto('receipt')
      .values({ ...receipt(3, {}), dedupe_key: 'pruned', body: null })
      .execute();
    const facts = new Map<string, Fact>();
    for (const [index, { body }] of receipts.entries()) {
      const read = readPayload(JSON.parse(body), {});
      if (!read.ok) throw new Error('the receipt cannot be read');
      for (const said of extract(read.payload))
        facts.set(said.field, fold(facts.get(said.field), COMPANY, said, index + 1).fact);
    }
    await tx
      .insertInto('fact')
      .values([...facts.values()].map((fact) => ({ ...fact, value: JSON.stringify(fact.value) })))
      .execute();
    for (const recordId of ['1', '2'])
      await linkRecord(tx, { provider: 'crm', recordId, entity: COMPANY, sendUpdate: false, now: NOW });
    const decision = {
      at: NOW,
      provider: 'crm',
      entity: COMPANY,
      seq: 1,
      detail: null,
    };
    await tx
      .insertInto('history')
      .values([
        {
          ...decision,
          record_id: '1',
          rule: 'register',
          lines: asStored(['Name', 'name', 'Papir ApS', 'Skitse ApS', null]),
          outcome: 'written',
        },
        {
          ...decision,
          record_id: '2',
          rule: 'edited',
          lines: asStored(['Name', 'name', 'Mine', 'Skitse ApS', null]),
          outcome: 'kept',
        },
      ])
      .execute();
    await tx
      .insertInto('property_state')
      .values([
        {
          provider: 'crm',
          record_id: '2',
          property: 'Kind',
          refused: '"x"',
          refused_reason: 'no option',
          refused_schema: null,
        },
        {
          provider: 'other',
          record_id: '2',
          property: 'Kind',
          refused: '"y"',
          refused_reason: 'no option',
          refused_schema: null,
        },
      ])
      .execute();
    await tx
      .updateTable('lane')
      .set({ due_at: null, parked_at: NOW, error: 'locked' })
      .where('queue', '=', 'sync:crm')
      .where('key', '=', '2')
      .execute();
  });
  return store;
}

describe.each(SUITE_ENGINES)("a company's timeline, on %s", (engine) => {
  it('shows the changes of each event, and the fields for which it came too late', async () => {
    const timeline = await readTimeline((await lived(engine)).db, COMPANY, options);
    expect(timeline?.receipts).toMatchObject([
      { seq: 1, events: ['name', 'board'], changed: ['name', 'board'], stale: [], pruned: false },
      { seq: 2, events: ['name', 'phoneNumber'], changed: ['phone'], stale: ['name'] },
      { seq: 3, events: [], pruned: true },
    ]);
  });

  it('shows the facts with their clocks, and marks lists that are known in part', async () => {
    const timeline = await readTimeline((await lived(engine)).db, COMPANY, options);
    expect(timeline?.facts.map(({ field, value, seq, complete }) => ({ field, value, seq, complete }))).toEqual([
      { field: 'board', value: [{ id: person.entityId, name: person.name, type: 'Person' }], seq: 1, complete: false },
      { field: 'name', value: 'Skitse ApS', seq: 1 },
      { field: 'phone', value: '10203040', seq: 2 },
      { field: 'registerChangedAt', value: '2026-03-02T00:00:00.000Z', seq: 1 },
    ]);
  });

  it('shows decisions, set-aside values and pending work', async () => {
    const timeline = await readTimeline((await lived(engine)).db, COMPANY, options);
    expect(timeline?.history).toMatchObject([
      { record: '1', rule: 'register', old: 'Papir ApS', new: 'Skitse ApS', outcome: 'written' },
      { record: '2', rule: 'edited', old: 'Mine', new: 'Skitse ApS', outcome: 'kept' },
    ]);
    expect(timeline?.setAside).toEqual([
      { provider: 'crm', record: '2', property: 'Kind', value: 'x', reason: 'no option', stays: null },
    ]);
    expect(timeline?.lanes.map(({ queue, key, state }) => `${queue} ${key} ${state}`)).toEqual([
      `apply ${COMPANY} due`,
      'monitoring crm:1 due',
      'monitoring crm:2 due',
      'sync:crm 1 due',
      'sync:crm 2 parked',
    ]);
  });

  it('can be limited to one record', async () => {
    const { db } = await lived(engine);
    expect(await entityOf(db, 'crm', '1')).toBe(COMPANY);
    const timeline = await readTimeline(db, COMPANY, { ...options, record: { provider: 'crm', id: '1' } });
    expect(timeline?.links.map(({ record }) => record)).toEqual(['1']);
    expect(timeline?.history.map(({ record }) => record)).toEqual(['1']);
    expect(timeline?.setAside).toEqual([]);
    expect(timeline?.lanes.map(({ key }) => key)).toEqual([COMPANY, 'crm:1', '1']);
  });

  it('is empty for an unknown company', async () => {
    const store = await newStore(engine);
    expect(await readTimeline(store.db, 'CVR-1-10000009', options)).toBeUndefined();
    expect(await entityOf(store.db, 'crm', '9')).toBeUndefined();
  });
});
