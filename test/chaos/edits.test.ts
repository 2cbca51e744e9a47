/**
 * A person edits the name of each record, or a part of its address, between our read of it and our write, in both CRMs, while
 * reads are slow, calls are refused as a whole and few are allowed: no edit is lost, and no address mixed. CVRSYNC_CHAOS_EDITS=2000 is the full run; without it there are 60.
 */
import { expect, test } from 'vitest';
import type { CrmEmulator } from '../../providers/kit/emulator/emulator.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { reported } from '../faults/company.ts';
import { AARHUS, ODENSE } from '../support/addresses.ts';
import { handClock } from '../support/clock.ts';
import { type CrmName, startFixture } from '../support/fixture.ts';

const seed = Number(process.env['CVRSYNC_CHAOS_SEED'] ?? 1);
const EDITS = Number(process.env['CVRSYNC_CHAOS_EDITS'] ?? 60);
const MINUTE_MS = 60_000;
const PROPERTIES = {
  hubspot: { name: 'name', street: 'address', postalCode: 'zip', city: 'city' },
  salesforce: { name: 'Name', street: 'BillingStreet', postalCode: 'BillingPostalCode', city: 'BillingCity' },
} as const;
type Parts = Readonly<Record<keyof (typeof PROPERTIES)['hubspot'], string>>;
const IN_AARHUS = { street: 'Østergade 1', postalCode: '8000', city: 'Aarhus C' };
const named = (crm: CrmName, parts: Partial<Parts>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(parts).map(([part, value]) => [PROPERTIES[crm][part as keyof Parts], value]));
const changed = (before: string, after: string, entityId: string) =>
  reported({ name: { before, after }, address: { before: AARHUS, after: ODENSE } }, 8, entityId);
const CALLS = {
  hubspot: ['batch/read', 'batch/update'],
  salesforce: ['composite/sobjects/Account', 'composite$'],
} as const;

test(`${EDITS} edits between read and write, CVRSYNC_CHAOS_SEED=${seed}`, { timeout: 30 * MINUTE_MS }, async () => {
  const random = randomFrom(seed);
  const clock = handClock();
  const now = clock.now;
  const rate = { calls: 40, perMs: 1_000 };
  const fixture = await startFixture({ clock, unhurried: true, hubspot: { now, rate }, salesforce: { now, rate } });
  const companies = sampleCompanies(seed, EDITS / 2);
  /** What a person writes into each record, by connection and id, whether they did, and what must stand there then. */
  const edits = new Map<string, { readonly edit: Partial<Parts>; readonly result: Partial<Parts>; isMade: boolean }>();
  for (const [index, { entityId }] of companies.entries())
    for (const crm of ['hubspot', 'salesforce'] as const) {
      const id = await fixture.addLinked(crm, entityId, named(crm, { ...IN_AARHUS, name: `A ${index} ApS` }));
      const edit = { [random.pick(['name', 'name', 'street', 'city'])]: `As a person wrote ${crm} ${index}` };
      // An address is theirs with any of its parts.
      const result = edit['name'] === undefined ? { ...IN_AARHUS, ...edit } : edit;
      edits.set(`${crm} ${id}`, { edit, result, isMade: false });
    }
  const meddle = (crm: CrmName, emulator: CrmEmulator) => (chance: number) => (ids: readonly string[]) => {
    for (const id of ids) {
      const edit = edits.get(`${crm} ${id}`);
      if (edit === undefined || edit.isMade || !random.chance(chance)) continue;
      edit.isMade = true;
      emulator.edit(id, named(crm, edit.edit), 'Bo Lind');
    }
  };
  await fixture.atRest();
  for (const crm of ['hubspot', 'salesforce'] as const) {
    const emulator = fixture[crm];
    emulator.onRead = meddle(crm, emulator)(0.5);
    emulator.onArrival = meddle(crm, emulator)(1);
    const [read, update] = CALLS[crm];
    emulator.fault({ match: read, times: 3, after: 1, action: { kind: 'slow', ms: 400 } });
    emulator.fault({
      match: update,
      times: 2,
      after: 1,
      action: { kind: 'status', status: 413, body: '<html></html>' },
    });
  }
  for (const [index, { entityId }] of companies.entries())
    expect(await fixture.post(changed(`A ${index} ApS`, `B ${index} ApS`, entityId))).toBe(204);
  const lost = () =>
    [...edits].filter(([key, { result, isMade }]) => {
      const [crm, id = ''] = key.split(' ') as [CrmName, string];
      const held = fixture[crm].get(id) ?? {};
      return !isMade || Object.entries(named(crm, result)).some(([property, value]) => held[property] !== value);
    }).length;
  const look = async () => {
    clock.forward(MINUTE_MS);
    fixture.app.connector?.wake();
    return lost();
  };
  await expect.poll(look, { interval: 500, timeout: 20 * MINUTE_MS }).toBe(0);
  await fixture.settled();
  const lines = (
    await fixture.app.store.db.selectFrom('history').select(['provider', 'rule', 'lines']).execute()
  ).filter(({ rule }) => rule === 'returned');
  const putBack = (crm: CrmName) => lines.filter(({ provider }) => provider === crm).length;
  const figures = { edits: edits.size, lost: lost(), hubspot: putBack('hubspot'), salesforce: putBack('salesforce') };
  process.stdout.write(`chaos ${JSON.stringify({ ...figures, calls: fixture.hubspot.calls.length })}\n`);
  expect(figures.hubspot).toBeGreaterThan(0);
  expect(figures.lost).toBe(0);
});
