/** An undo of what a company wrote into a record that stands for another by now. */
import { describe, expect, test } from 'vitest';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { endLink, linkRecord } from '../../../src/connector/links/links.ts';
import { payloadOf, writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENTITY } from '../../faults/company.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { open, RECORD, report, sync, takeBack, type World } from '../sync/two-syncs.ts';

const OTHER = 'CVR-1-95000019';

/** The record stands for the other company, whose register says this name. */
async function relink(world: World, name: string): Promise<void> {
  const { store, metrics, clock } = world;
  const now = () => clock.now;
  clock.now += 1_000;
  await store.write(async (tx) => {
    const ref = { provider: 'crm', recordId: RECORD, now: clock.now };
    await endLink(tx, { ...ref, state: 'removed', reason: 'another company' });
    await tx.updateTable('link').set({ observed: 'off' }).execute();
    await linkRecord(tx, { ...ref, entity: OTHER, sendUpdate: false });
    const timestamp = '2026-03-02T09:00:00.000Z';
    const body = JSON.stringify(
      writePayload(payloadOf(OTHER, timestamp, { name: { before: null, after: name } } as never)),
    );
    await insertReceipts(tx, [{ key: 'other', entity: OTHER, timestamp, body }], clock.now);
  });
  const claims = await claim(store, 'apply', { limit: 9, now: clock.now, leaseMs: 9_000 });
  const mapped = new Map([['crm', new Set(['name'] as const)]]);
  await applyReceipts({ store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped }, claims);
  await sync(world);
}

describe.each(SUITE_ENGINES)('an undo of the writes to a record that was linked to a wrong company (%s)', (engine) => {
  test('keeps values that equal those of the right company', async () => {
    const world = await open(engine, 'Old name', 'always');
    await report(world, 'X', 'Same ApS', 8);
    await sync(world);
    await relink(world, 'Same ApS');
    await takeBack(world, { entity: ENTITY });
    expect(world.held.name).toBe('Same ApS');
    expect(await world.store.db.selectFrom('override').selectAll().execute()).toEqual([]);
  });

  test('restores values that the right company does not have', async () => {
    const world = await open(engine, 'Old name', 'always');
    await report(world, 'X', 'Same ApS', 8);
    await sync(world);
    await takeBack(world, { entity: ENTITY });
    expect(world.held.name).toBe('Old name');
  });
});
