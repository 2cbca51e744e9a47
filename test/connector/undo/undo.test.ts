/** The real command beside the running daemon, on both CRMs. */
import { describe, expect, test } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import { claimByKey } from '../../../src/runtime/lanes/claim.ts';
import { settle } from '../../../src/runtime/lanes/lanes.ts';
import { CRMS, ENTITY, renamed, reported } from '../../faults/company.ts';
import { type Fixture, lanesBehind, startFixture } from '../../support/fixture.ts';
import { ENGINES } from '../../support/stores.ts';

// Each engine and each CRM once: neither knows of the other.
const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));

interface Property {
  readonly property: string;
  readonly kind: string;
  readonly to?: unknown;
}

/** Runs undo for one property, and returns the exit code and what became of the property. */
async function undo(fixture: Fixture, property: string, ...argv: readonly string[]): Promise<string> {
  const { code, stdout } = await fixture.cli('undo', '--yes', ...argv, '--property', property, '--json');
  const { properties }: { properties: readonly Property[] } = JSON.parse(stdout);
  return [code, ...properties.map(({ kind, to }) => (to === undefined ? kind : `${kind} ${to}`))].join(' ');
}

describe.each(CASES)('$crm on $engine', ({ crm, engine, name, own }) => {
  /** A linked record that the register renamed from A to B, event 1. */
  async function renamedOnce(): Promise<{ fixture: Fixture; id: string }> {
    const fixture = await startFixture({ engine });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
    return { fixture, id };
  }

  test('an undone event is recorded, and stays undone', async () => {
    const { fixture, id } = await renamedOnce();
    expect(await undo(fixture, name, '--event', '1', '--dry-run')).toBe('0 restored A ApS');
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS' });

    const { code, stdout } = await fixture.cli('undo', '--yes', '--event', '1');
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 restored')]);
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS', [own]: null });
    const undone = (await fixture.history(id)).filter(({ rule }) => rule === 'undo');
    expect(undone).toMatchObject([
      { outcome: 'written', old: 'B ApS', detail: 'event 1 was taken back' },
      { outcome: 'written', old: 'B ApS' },
    ]);

    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS', [own]: null });
    expect(await undo(fixture, name, '--event', '1')).toBe('0 undone');
    const timeline = (await fixture.cli('explain', ENTITY)).stdout;
    expect(timeline).toMatch(/Overrides\n.*hold.*placed by undo of /u);

    expect((await fixture.cli('hold', `${crm}:${id}`, name, '--clear')).code).toBe(0);
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS', [own]: null });
    expect((await fixture.cli('hold', `${crm}:*`, '--clear', '--yes')).stdout).toBe(
      '1 hold that undo placed has ended.\n',
    );
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [own]: 'C ApS' });
  });

  test("a person's edit after our write is kept", async () => {
    const { fixture, id } = await renamedOnce();
    fixture[crm].edit(id, { [name]: 'B ApS (VIP)' });
    expect(await undo(fixture, name, '--entity', ENTITY)).toBe('3 edited');
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS (VIP)' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect((await fixture.history(id)).findLast(({ property }) => property === name)).toMatchObject({ rule: 'edited' });
  });

  test('a later write of ours is not undone with an earlier event, but both together are', async () => {
    const { fixture, id } = await renamedOnce();
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(await undo(fixture, name, '--event', '1')).toBe('3 overtaken');
    expect(await undo(fixture, name, '--event', '2', '--dry-run')).toBe('0 restored B ApS');
    expect(await undo(fixture, name, '--entity', ENTITY)).toBe('0 restored A ApS');
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('a write of two events belongs to the last one', async () => {
    const fixture = await startFixture({ engine });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    const { store } = fixture.app;
    // Nobody works on the record until both events are there, however slow the machine is.
    const held = await claimByKey(store, `sync:${crm}`, [id], { now: Date.now(), leaseMs: 3_600_000 });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await expect.poll(() => lanesBehind(store)).toEqual([`sync:${crm} ${id}`]);
    expect(held).toHaveLength(1);
    for (const claim of held) await store.write((tx) => settle(tx, claim, { kind: 'done' }));
    await fixture.atRest();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS' });
    const first = await fixture.cli('undo', '--yes', '--event', '1');
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('that of event 2, which includes all')]);
    expect(await undo(fixture, name, '--event', '2')).toBe('0 restored A ApS');
    expect((await fixture.cli('undo', '--event', '77')).stderr).toContain('there is no event 77');
  });

  test('an undo can be undone', async () => {
    const { fixture, id } = await renamedOnce();
    expect((await fixture.cli('undo', '--yes', '--event', '1')).code).toBe(0);
    const at = (await fixture.history(id)).find(({ rule }) => rule === 'undo')?.at ?? 0;
    const since = new Date(at).toISOString();
    expect(await undo(fixture, name, '--provider', crm, '--since', since)).toBe('0 restored B ApS');
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
    // The register speaks again, and the event can be taken back again.
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS' });
    expect(await undo(fixture, name, '--entity', ENTITY)).toBe('0 restored A ApS');
  });

  test('deleted and merged records are named, and the others are restored', async () => {
    const { fixture, id } = await renamedOnce();
    const gone = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const merged = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].remove(gone);
    fixture[crm].merge(fixture[crm].add({ [name]: 'Z ApS' }), merged);
    const said = await undo(fixture, name, '--entity', ENTITY);
    expect(said.split(' ')[0]).toBe('3');
    expect(said).toContain('restored A ApS');
    expect(said).toContain('gone');
    expect(said).toContain('moved');
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('the writes of a wrong company are undone after its link was removed', async () => {
    const { fixture, id } = await renamedOnce();
    const end = { provider: crm, recordId: id, state: 'removed', reason: 'the wrong one', now: Date.now() } as const;
    await fixture.app.store.write((tx) => endLink(tx, end));
    expect(await undo(fixture, name, '--entity', ENTITY)).toBe('0 restored A ApS');
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('respelled values are recognised, and former blanks are cleared', async () => {
    const fixture = await startFixture({ engine });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const updates: Updates = {
      capital: { before: null, after: { value: 600_000, currency: 'DKK', hasClasses: null, isPartial: null } },
      phoneNumber: { before: null, after: '10203040' },
      bylawsChangedDate: { before: null, after: '2019-05-01T00:00:00' },
      purpose: { before: null, after: 'Formålet er handel. '.repeat(4_000) },
      board: { added: [{ entityId: 'CVR-3-4000000001', name: 'Attrap Papir', type: 'Person' }], removed: [] },
    };
    await fixture.post(reported(updates, 8));
    await fixture.settled();
    const before = fixture[crm].get(id) ?? {};
    const written = new Set((await fixture.history(id)).map(({ property }) => property ?? ''));
    expect(written.size).toBeGreaterThan(4);
    const { code, stdout } = await fixture.cli('undo', '--yes', '--event', '1', '--json');
    const { properties }: { properties: readonly Property[] } = JSON.parse(stdout);
    expect([code, new Set(properties.map(({ kind }) => kind))]).toEqual([0, new Set(['restored'])]);
    const after = fixture[crm].get(id) ?? {};
    for (const { property } of properties)
      expect([property, before[property] !== null, after[property]]).toEqual([property, true, null]);
  });
});
