/** A difference names who wrote what the CRM holds, after a check of the CRM's history: a list asks the CRM nothing. */
import { describe, expect, it } from 'vitest';
import { openGate } from '../../../src/connector/crm/ability.ts';
import { checkEdits } from '../../../src/connector/edits/check-edits.ts';
import { openCheckLimiter } from '../../../src/connector/edits/check-limiter.ts';
import { readDifferences } from '../../../src/connector/history/differences.ts';
import { readDifferent } from '../../../src/connector/review/review-list.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { emulatedHubspot, emulatedSalesforce, recordsOf } from '../sync/emulated-records.ts';

const SCOPES = ['companies.read', 'companies.write', 'owners.read'].map((right) => `crm.objects.${right}`);
const CRMS = [
  ['HubSpot', () => emulatedHubspot({ scopes: SCOPES })],
  ['Salesforce, with a field history', () => emulatedSalesforce({ trackedFields: ['Name'] })],
  ['Salesforce', () => emulatedSalesforce()],
] as const;

describe.each(SUITE_ENGINES)('the editor of a difference (%s)', (engine) => {
  it.each(CRMS)('comes from the history of %s, from the newest edit', async (_, open) => {
    const emulated = await open();
    const { emulator, name } = emulated;
    const { store, crm, clock, ids, sync, rename } = await recordsOf(emulated, 2, { engine });
    const [edited = ''] = ids;
    const { now } = clock;
    const deps = { store, now, gate: openGate(store, crm, 'edits', now), limiter: openCheckLimiter(store, crm, now) };
    const check = async () => {
      // Users' names are read once an hour.
      clock.forward(3_700_000);
      const claims = await claim(store, 'edits:crm', { limit: 9, now: now(), leaseMs: 60_000 });
      await checkEdits(deps, crm, claims, new AbortController().signal);
      return claims.length;
    };
    const editors = async () => (await readDifferences(store.db, now(), {}, 9)).map(({ editor }) => editor?.name);
    await sync();
    await check();
    emulator.edit(edited, { [name]: 'As Bo wrote it' }, 'Bo Lind');
    await rename('B ApS', 'C ApS', 9);
    await sync();
    expect(await editors()).toEqual([undefined]);
    await check();
    const calls = emulator.calls.length;
    expect(await readDifferent(store.db, now(), {}, 9)).toMatchObject([
      { about: `crm:${edited} ${name}`, editor: { name: 'Bo Lind', at: expect.any(Number) } },
    ]);
    expect([emulator.calls.length, await check()]).toEqual([calls, 0]);

    emulator.edit(edited, { [name]: 'As Anna wrote it' }, 'Anna Holm');
    await rename('C ApS', 'D ApS', 10);
    await sync();
    expect(await editors()).toEqual([undefined]);
    await check();
    expect(await editors()).toEqual(['Anna Holm']);
    await rename('D ApS', 'E ApS', 11);
    await sync();
    expect(await editors()).toEqual(['Anna Holm']);
  });
});
