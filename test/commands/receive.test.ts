import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { writePayload } from '../../src/protocol/payload.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { ENTITY, reported } from '../faults/company.ts';
import { runCli } from '../support/cli.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { configFor, startCrms } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

const OTHER = cvrNumber(7);

/** A linked HubSpot record, and the files a person would name. */
async function ready(properties: Readonly<Record<string, string | boolean>> = {}, payload?: object) {
  const crms = await startCrms();
  const folder = newFolder();
  const url = join(folder, 'cvrsync.db');
  const id = crms.hubspot.add({ name: 'A ApS', ...properties });
  const store = await openStore(url);
  await store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() }),
  );
  await store.close();
  const config = join(folder, 'cvrsync.json');
  writeFileSync(
    config,
    JSON.stringify(
      configFor(crms, url, {
        connections: { hubspot: { hold: { property: 'cvr_hold' }, match: { property: 'cvr_number' } } },
      }),
    ),
  );
  const file = join(folder, 'payload.json');
  const renamed = writePayload(reported({ name: { before: 'A ApS', after: 'B ApS' } }, 8));
  writeFileSync(file, JSON.stringify(payload ?? renamed));
  const receive = (...more: readonly string[]) => runCli(['--config', config, '--json', 'receive', file, ...more]);
  return { crms, id, receive };
}

test('a dry run of a payload shows its writes, and writes nothing', async () => {
  const { crms, id, receive } = await ready();
  const { code, stdout } = await receive('--dry-run');
  expect(code).toBe(0);
  const rows: unknown = JSON.parse(stdout);
  expect(rows).toContainEqual(
    expect.objectContaining({ record: `hubspot:${id}`, property: 'name', action: 'write', old: 'A ApS', new: 'B ApS' }),
  );
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'A ApS' });
});

test.each([
  { record: 'on hold', properties: { cvr_hold: true }, rule: 'hold', detail: /on hold/ },
  {
    record: 'that holds the number of another company',
    properties: { cvr_number: OTHER },
    rule: 'contested',
    detail: /number/,
  },
])('a dry run says why a record $record would not be written to', async ({ properties, rule, detail }) => {
  const { id, receive } = await ready(properties);
  expect(JSON.parse((await receive('--dry-run')).stdout)).toEqual([
    {
      record: `hubspot:${id}`,
      property: '',
      action: 'skip',
      rule,
      old: null,
      new: null,
      detail: expect.stringMatching(detail),
    },
  ]);
});

test('a received payload is stored, applied and written once', async () => {
  const { crms, id, receive } = await ready();
  expect(JSON.parse((await receive()).stdout)).toEqual({ entity: ENTITY, duplicate: false, applied: true });
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'B ApS' });
  expect(JSON.parse((await receive()).stdout)).toMatchObject({ duplicate: true });
});

test('a dry run lists malformed, unknown and incomplete entries, and those dated ahead', async () => {
  const person = { entityId: 'CVR-3-4999000001', name: 'Anne Opdigtsen', type: 'Person' };
  const { receive } = await ready(
    {},
    {
      entityId: ENTITY,
      timestamp: '2026-03-02T08:00:00Z',
      updates: {
        phoneNumber: { updated: true, before: null, after: { number: 1 } },
        creditRating: { updated: true, before: 'A', after: 'B' },
        board: { updated: true, added: [person], removed: [] },
        pUnitAdded: { updated: true, entity: { entityId: 'CVR-2-1990000001', name: 'Lager', type: 'Place' } },
        commercialProtection: { updated: true, before: true, after: null },
        yearlyEmployees: { updated: true, year: 2126, before: null, after: '5-9' },
        website: { updated: false },
      },
    },
  );
  const rows: readonly { property: string; rule: string; detail: string }[] = JSON.parse(
    (await receive('--dry-run')).stdout,
  );
  const remarks = rows.filter(({ rule }) => ['malformed', 'unknown', 'incomplete', 'ahead'].includes(rule));
  expect(remarks.map(({ property, rule }) => `${rule} ${property}`)).toEqual([
    'malformed phoneNumber',
    'unknown creditRating',
    'incomplete commercialProtection',
    'incomplete board',
    'incomplete productionUnits',
    'ahead timestamp or period',
  ]);
  expect(remarks[0]?.detail).toContain('updates.phoneNumber.after');
  expect(remarks.at(-1)?.detail).toContain('yearlyEmployees of 2126');
});
