/** Calls that a CRM refuses as a whole: the runtime divides them, reads each part again, and parks the one that is left. */
import { expect, it } from 'vitest';
import { readBatchSize } from '../../../src/connector/write/batch-size.ts';
import { type Emulated, emulatedHubspot, emulatedSalesforce, type Firewall, recordsOf } from './emulated-records.ts';

const patchCalls = (emulator: Emulated['emulator']) =>
  emulator.calls.filter(({ path }) => /\/(composite|batch\/update)$/.test(path)).length;

it('writes all 99 records if a trigger accepts at most 50 in a call, and sends no larger call for a day', async () => {
  const emulated = await emulatedSalesforce({ triggers: [{ kind: 'queries', over: 50 }] });
  const { crm, store, clock, sync, rename, parked, holding } = await recordsOf(emulated, 99);
  await sync();
  expect([holding('B ApS'), await parked(), patchCalls(emulated.emulator)]).toEqual([99, [], 3]);
  expect(await readBatchSize(store.db, crm, clock.now())).toBe(50);
  await rename('B ApS', 'C ApS', 9);
  await sync();
  expect([holding('C ApS'), await parked(), patchCalls(emulated.emulator)]).toEqual([99, [], 5]);
  clock.forward(25 * 3_600_000);
  expect(await readBatchSize(store.db, crm, clock.now())).toBe(200);
});

it('sends at most the configured number of records in a call', async () => {
  const emulated = await emulatedSalesforce({ triggers: [{ kind: 'queries', over: 50 }] });
  const { sync, holding } = await recordsOf(emulated, 99, { batch: 33 });
  await sync();
  expect([holding('B ApS'), patchCalls(emulated.emulator)]).toEqual([99, 3]);
});

it('parks the one record of twenty that makes a trigger throw, by name and reason, and writes the others', async () => {
  let poison = '';
  const emulated = await emulatedSalesforce({ triggers: [{ kind: 'throws', on: ({ id }) => id === poison }] });
  const { crm, store, clock, ids, sync, parked, holding } = await recordsOf(emulated, 20);
  poison = ids[13] ?? '';
  await sync();
  expect(await parked()).toEqual([[poison, expect.stringContaining('NullPointerException')]]);
  expect([holding('B ApS'), await readBatchSize(store.db, crm, clock.now())]).toEqual([19, 200]);
});

/** Whether a call writes to a record. */
const isWriteOf = ({ url, body }: Parameters<Firewall>[0], id: string): boolean =>
  /\/(composite|batch\/update)$/.test(new URL(url).pathname) && String(body).includes(id);

it.each([
  ['Salesforce', emulatedSalesforce],
  ['HubSpot', emulatedHubspot],
] as const)('keeps what people wrote into records of %s while their batch is divided', async (_, open) => {
  const emulated = await open();
  const { emulator, name } = emulated;
  const { ids, sync, parked, held, way } = await recordsOf(emulated, 40);
  const poison = ids[21] ?? '';
  const edited = new Set<string>();
  // It takes offence at one record; while it answers, a person edits another one.
  way.firewall = (request) => {
    if (!isWriteOf(request, poison)) return undefined;
    const next = ids.find((id) => id !== poison && !edited.has(id) && emulator.get(id)?.[name] === 'A ApS');
    if (next !== undefined) {
      emulator.edit(next, { [name]: `Edit of ${next}` });
      edited.add(next);
    }
    return 403;
  };
  await sync();
  expect(edited.size).toBeGreaterThan(4);
  expect(await parked()).toEqual([[poison, expect.stringContaining('did not answer')]]);
  const wanted = ids.map((id) => (edited.has(id) ? `Edit of ${id}` : id === poison ? 'A ApS' : 'B ApS'));
  expect(held()).toEqual(wanted);
});

it('pauses the connection, and parks nothing, if a firewall blocks every write', async () => {
  const emulated = await emulatedHubspot();
  const { crm, ids, sync, parked, holding } = await recordsOf(emulated, 20);
  emulated.emulator.fault({
    match: 'batch/update',
    times: 99,
    action: { kind: 'status', status: 403, body: '<html>' },
  });
  await sync();
  expect([await parked(), holding('A ApS')]).toEqual([[], ids.length]);
  expect(await crm.rateLimiter.blockedUntil()).toMatchObject({ reason: expect.stringContaining('firewall') });
  expect(patchCalls(emulated.emulator)).toBeLessThan(10);
});

it('retries a single refused record without a comparison, and parks it once others succeed', async () => {
  const emulated = await emulatedHubspot();
  const { store, clock, ids, sync, parked, holding, way } = await recordsOf(emulated, 2);
  const [poison = ''] = ids;
  way.firewall = (request) => (isWriteOf(request, poison) ? 413 : undefined);
  await store.write((tx) =>
    tx
      .updateTable('lane')
      .set({ due_at: clock.now() + 60_000 })
      .where('key', '<>', poison)
      .execute(),
  );
  await sync();
  expect([await parked(), holding('B ApS')]).toEqual([[], 0]);
  clock.forward(120_000);
  await sync();
  expect(await parked()).toEqual([[poison, expect.stringContaining('did not answer')]]);
  expect(holding('B ApS')).toBe(1);
});
