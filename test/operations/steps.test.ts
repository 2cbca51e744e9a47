/** Operations that need many transactions: the audit records what was done, wherever they end. */
import { expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { setOverride } from '../../src/connector/overrides/override.ts';
import { endHolds } from '../../src/operations/connector/holds.ts';
import { updateAll } from '../../src/operations/connector/links.ts';
import { perform } from '../../src/operations/definition/operation.ts';
import { companyEntityId } from '../../src/protocol/entity-id.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import type { Store } from '../../src/store/store.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';

const caller = { actor: { kind: 'operator', name: 'ida' }, via: 'page' } as const;
const hold = { kind: 'hold', once: false, until: null, reason: null } as const;

/** Linked records on hold: a step and a part of one for each of the two operations. */
async function scene(engine: (typeof SUITE_ENGINES)[number]) {
  const store = await newStore(engine);
  await store.write(async (tx) => {
    for (let at = 0; at < 1_001; at += 1) {
      const ref = { provider: 'crm', recordId: `${at}` };
      await linkRecord(tx, { ...ref, entity: companyEntityId(cvrNumber(at)), sendUpdate: false, now: 1 });
      if (at < 501) await setOverride(tx, { ...ref, property: 'name' }, hold, 1);
    }
  });
  return store;
}

/** The store, and a stop after its first write. */
function stopping(store: Store) {
  const stop = new AbortController();
  const write: Store['write'] = async (...given) => {
    const result = await store.write(...given);
    stop.abort();
    return result;
  };
  return { store: { ...store, write }, now: () => 2, signal: stop.signal };
}

it.each(SUITE_ENGINES)('one entry says how much was done, also of what was stopped (%s)', async (engine) => {
  const store = await scene(engine);
  const entries = async () => (await readAudit(store.db, {}, 9)).map(({ action, result }) => `${action} ${result}`);
  await expect(perform(endHolds, { provider: 'crm' }, stopping(store), caller)).rejects.toThrow('aborted');
  expect(await entries()).toEqual(['record.endHolds 500 holds ended']);
  await expect(perform(updateAll, {}, stopping(store), caller)).rejects.toThrow('aborted');
  expect((await entries())[0]).toBe('monitoring.update 1000 companies');
  await store.write((tx) => tx.deleteFrom('audit').execute());
  const whole = { store, now: () => 3 };
  expect(await perform(endHolds, { provider: 'crm' }, whole, caller)).toEqual({ count: 1 });
  expect(await perform(endHolds, { provider: 'crm' }, whole, caller)).toEqual({ count: 0 });
  expect(await perform(updateAll, {}, whole, caller)).toEqual({ companies: 1_001 });
  expect(await entries()).toEqual(['monitoring.update 1001 companies', 'record.endHolds 1 holds ended']);
});
