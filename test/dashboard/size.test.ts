/** How much a browser gets: with lists that are full and values that are long. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { recordAudit } from '../../src/runtime/operators/audit.ts';
import type { Tx } from '../../src/store/store.ts';
import { asStored } from '../support/history.ts';
import { COMPANY, playStory } from './story.ts';

const KB = 1_000;
const ASSETS = join(import.meta.dirname, '../../src/dashboard/assets');
/** As long as a purpose in the register, and longer than any name. */
const LONG = '“Æ & <b>” '.repeat(40);
const MANY = 300;
const numbers = [...Array(MANY).keys()];

it('all scripts together are under 20 kB', () => {
  const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
  expect(scripts).not.toEqual([]);
  const sent = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(ASSETS, name))).length, 0);
  expect(sent).toBeLessThan(20 * KB);
});

/** More of everything than a page shows. */
async function fill(tx: Tx, record: string): Promise<void> {
  const at = (n: number): number => 1_700_000_000_000 + n;
  const of = { provider: 'hubspot', record_id: record, entity: COMPANY };
  const lines = asStored(['description', 'purpose', LONG, LONG, null]);
  const decided = { seq: 1, rule: 'ours', outcome: 'written', lines };
  for (const n of numbers) {
    await tx
      .insertInto('history')
      .values({ ...of, ...decided, at: at(n) })
      .execute();
    await tx
      .insertInto('link')
      .values({
        ...{
          provider: 'hubspot',
          record_id: `7${n}`,
          entity: `CVR-1-${10_000_000 + n}`,
          state: n < 100 ? 'conflict' : 'active',
        },
        ...{ reason: LONG, desired: 'on', observed: 'on', observed_at: 1, observed_error: null, send_update: 0 },
        ...{ asked_seq: null, synced_seq: 0, synced_at: null, origin: 'number', trust: 'crm', writes_number: 0 },
        ...{ mismatch: null, created_at: at(n), updated_at: at(n) },
      })
      .execute();
    const fact = { value: JSON.stringify({ scalar: `1 ${LONG.slice(0, 150)}` }), clock: '', seq: 1 };
    await tx
      .insertInto('fact')
      .values({ ...fact, entity: `CVR-1-${10_000_000 + n}`, field: 'name' })
      .execute();
    await tx
      .insertInto('property_state')
      .values({
        ...{ provider: 'hubspot', record_id: `7${n}`, property: 'description' },
        ...{ refused: null, refused_reason: null, refused_schema: null },
        ...{ kept: JSON.stringify(LONG), offered: JSON.stringify(LONG), kept_at: at(n) },
      })
      .execute();
    const placed = { origin: 'undo', placed_by: 'ida@example.com', placed_via: 'page' } as const;
    await tx
      .insertInto('override')
      .values({
        ...{ provider: 'hubspot', record_id: `7${n}`, property: 'numberofemployees', kind: 'hold', once: 0 },
        ...{ until: Date.now() + 86_400_000 + n, reason: LONG.slice(0, 200), created_at: at(n), ...placed },
      })
      .execute();
    await tx
      .insertInto('scan')
      .values({
        ...{ provider: 'hubspot', purpose: 'backfill', record_id: `8${n}`, position: n + 1, name: LONG.slice(0, 120) },
        ...{ found: String(20_000_000 + n), entity: `CVR-1-${20_000_000 + n}`, verdict: 'matched', action: 'link' },
        ...{ state: 'planned', detail: LONG.slice(0, 200) },
      })
      .execute();
    const actor = { kind: 'operator', name: 'Ida' } as const;
    const entry = { actor, via: 'page', action: 'record.hold', subject: `hubspot:${record}`, result: LONG } as const;
    await recordAudit(tx, { ...entry, detail: { reason: LONG } }, at(n));
  }
}

it('no page is over 60 kB, however much there is to show', async () => {
  const { fixture, records, signedIn } = await playStory({
    connections: { hubspot: { match: { property: 'cvr_number' } } },
  });
  await fixture.cli('backfill', 'hubspot', '--dry-run');
  await fixture.app.store.write((tx) => fill(tx, records.hubspot));
  const ida = await signedIn('admin');
  const sizes = new Map<string, number>();
  for (const path of [
    '/',
    '/inbox',
    '/inbox?kind=link',
    '/inbox?kind=difference',
    '/inbox?kind=difference&chosen=page',
    '/companies?q=1',
    `/companies/${COMPANY}`,
    '/backfill',
    '/backfill/hubspot?part=all',
    '/inbox?kind=match',
    '/writes',
    '/holds?chosen=page',
    '/connections',
    '/connections/hubspot',
    '/audit',
    '/installation',
    '/sessions',
  ]) {
    const { status, text } = await ida.get(path);
    expect(status, path).toBe(200);
    sizes.set(path, Buffer.byteLength(text));
  }
  for (const full of [
    '/inbox?kind=difference',
    '/inbox?kind=difference&chosen=page',
    '/companies?q=1',
    '/backfill/hubspot?part=all',
    '/writes',
    '/holds?chosen=page',
    '/audit',
  ])
    expect(sizes.get(full), full).toBeGreaterThan(20 * KB);
  expect([...sizes].filter(([, size]) => size > 60 * KB)).toEqual([]);
});
