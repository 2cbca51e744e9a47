/** The real command beside the running daemon, on both CRMs. */
import { describe, expect, test } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import { CRMS, ENTITY, renamed, reported } from '../../faults/company.ts';
import { type Stage, startFixture } from '../../support/stage.ts';
import { ENGINES } from '../../support/stores.ts';

// Each engine and each CRM once: neither knows of the other.
const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));

interface Property {
  readonly property: string;
  readonly kind: string;
  readonly to?: unknown;
}

/** Runs undo for one property, and returns the exit code and what became of the property. */
async function undo(stage: Stage, property: string, ...argv: readonly string[]): Promise<string> {
  const { code, stdout } = await stage.cli('undo', ...argv, '--property', property, '--json');
  const { properties }: { properties: readonly Property[] } = JSON.parse(stdout);
  return [code, ...properties.map(({ kind, to }) => (to === undefined ? kind : `${kind} ${to}`))].join(' ');
}

describe.each(CASES)('$crm on $engine', ({ crm, engine, name, own, read }) => {
  /** A linked record that the register renamed from A to B, event 1. */
  async function renamedOnce(): Promise<{ stage: Stage; id: string }> {
    const stage = await startFixture({ engine });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'B ApS' });
    return { stage, id };
  }

  test('an event is taken back, is told of, and stays taken back', async () => {
    const { stage, id } = await renamedOnce();
    expect(await undo(stage, name, '--event', '1', '--dry-run')).toBe('0 restored A ApS');
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS' });

    const { code, stdout } = await stage.cli('undo', '--event', '1');
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 restored')]);
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS', [own]: null });
    const undone = (await stage.history(id)).filter(({ rule }) => rule === 'undo');
    expect(undone).toMatchObject([
      { outcome: 'written', old_value: '"B ApS"', detail: 'event 1 was taken back' },
      { outcome: 'written', old_value: '"B ApS"' },
    ]);

    await stage.post(renamed('B ApS', 'C ApS', 9));
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS', [own]: null });
    expect(await undo(stage, name, '--event', '1')).toBe('0 undone');
    const timeline = (await stage.cli('explain', ENTITY)).stdout;
    expect(timeline).toMatch(/Overrides\n.*hold.*undone/u);

    expect((await stage.cli('hold', `${crm}:${id}`, name, '--clear')).code).toBe(0);
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'C ApS', [own]: null });
    expect((await stage.cli('hold', `${crm}:*`, '--clear')).stdout).toBe('1 holds that undo placed have ended.\n');
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [own]: 'C ApS' });
  });

  test("a person's edit after our write is kept", async () => {
    const { stage, id } = await renamedOnce();
    stage[crm].edit(id, { [name]: 'B ApS (VIP)' });
    expect(await undo(stage, name, '--entity', ENTITY)).toBe('3 edited');
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS (VIP)' });
    await stage.post(renamed('B ApS', 'C ApS', 9));
    await stage.settled();
    expect((await stage.history(id)).findLast(({ property }) => property === name)).toMatchObject({ rule: 'edited' });
  });

  test('a later write of ours is not taken back by an earlier event; both together are', async () => {
    const { stage, id } = await renamedOnce();
    await stage.post(renamed('B ApS', 'C ApS', 9));
    await stage.settled();
    expect(await undo(stage, name, '--event', '1')).toBe('3 overtaken');
    expect(await undo(stage, name, '--event', '2', '--dry-run')).toBe('0 restored B ApS');
    expect(await undo(stage, name, '--entity', ENTITY)).toBe('0 restored A ApS');
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('of two events that became one write, the last carries it', async () => {
    const stage = await startFixture({ engine });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    stage[crm].fault({ match: read, action: { kind: 'status', status: 503 } });
    await stage.post(renamed('A ApS', 'B ApS'));
    await stage.settled();
    await stage.post(renamed('B ApS', 'C ApS', 9));
    await stage.atRest();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'C ApS' });
    const first = await stage.cli('undo', '--event', '1');
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('that of event 2, which carries all')]);
    expect(await undo(stage, name, '--event', '2')).toBe('0 restored A ApS');
    expect((await stage.cli('undo', '--event', '77')).stderr).toContain('there is no event 77');
  });

  test('an undo is taken back', async () => {
    const { stage, id } = await renamedOnce();
    expect((await stage.cli('undo', '--event', '1')).code).toBe(0);
    const at = (await stage.history(id)).find(({ rule }) => rule === 'undo')?.at ?? 0;
    const since = new Date(at).toISOString();
    expect(await undo(stage, name, '--provider', crm, '--since', since)).toBe('0 restored B ApS');
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
    // The register speaks again, and the event can be taken back again.
    await stage.post(renamed('B ApS', 'C ApS', 9));
    await stage.settled();
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'C ApS' });
    expect(await undo(stage, name, '--entity', ENTITY)).toBe('0 restored A ApS');
  });

  test('records that are gone or merged are named, the others are put back', async () => {
    const { stage, id } = await renamedOnce();
    const gone = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const merged = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await stage.settled();
    stage[crm].remove(gone);
    stage[crm].merge(stage[crm].add({ [name]: 'Z ApS' }), merged);
    const said = await undo(stage, name, '--entity', ENTITY);
    expect(said.split(' ')[0]).toBe('3');
    expect(said).toContain('restored A ApS');
    expect(said).toContain('gone');
    expect(said).toContain('moved');
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('what was written to a record of the wrong company is taken back after its link was removed', async () => {
    const { stage, id } = await renamedOnce();
    const end = { provider: crm, recordId: id, state: 'removed', reason: 'the wrong one', now: Date.now() } as const;
    await stage.app.store.write((tx) => endLink(tx, end));
    expect(await undo(stage, name, '--entity', ENTITY)).toBe('0 restored A ApS');
    expect(stage[crm].get(id)).toMatchObject({ [name]: 'A ApS' });
  });

  test('what the CRM spells in its own way is known again, and what was blank is cleared', async () => {
    const stage = await startFixture({ engine });
    const id = await stage.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const updates: Updates = {
      capital: { before: null, after: { value: 600_000, currency: 'DKK', hasClasses: null, isPartial: null } },
      phoneNumber: { before: null, after: '10203040' },
      bylawsChangedDate: { before: null, after: '2019-05-01T00:00:00' },
      purpose: { before: null, after: 'Formålet er handel. '.repeat(4_000) },
      board: { added: [{ entityId: 'CVR-3-4000000001', name: 'Attrap Papir', type: 'Person' }], removed: [] },
    };
    await stage.post(reported(updates, 8));
    await stage.settled();
    const before = stage[crm].get(id) ?? {};
    const written = new Set((await stage.history(id)).map(({ property }) => property ?? ''));
    expect(written.size).toBeGreaterThan(4);
    const { code, stdout } = await stage.cli('undo', '--event', '1', '--json');
    const { properties }: { properties: readonly Property[] } = JSON.parse(stdout);
    expect([code, new Set(properties.map(({ kind }) => kind))]).toEqual([0, new Set(['restored'])]);
    const after = stage[crm].get(id) ?? {};
    for (const { property } of properties)
      expect([property, before[property] !== null, after[property]]).toEqual([property, true, null]);
  });
});
