/** A way to forget a wrong fact: `facts forget`. */
import { describe, expect, test } from 'vitest';
import { payloadOf } from '../../src/protocol/payload.ts';
import { ENTITY } from '../faults/company.ts';
import { serveService } from '../support/service.ts';
import { startFixture } from '../support/stage.ts';
import { ENGINES } from '../support/stores.ts';

const at = (hour: number): string => new Date(Date.UTC(2026, 2, 2, hour)).toISOString();
const renamed = (after: string, hour: number, before: string | null = null) =>
  payloadOf(ENTITY, at(hour), { name: { before, after } });

describe.each(ENGINES)('facts forget, on %s', (engine) => {
  const fixture = async () => {
    const service = await serveService();
    const upstream = { baseUrl: service.url, accessKey: service.accessKey };
    const fields = { name: { property: 'name', policy: 'tracked' } };
    const stage = await startFixture({ engine, upstream, connections: { hubspot: { fields } } });
    const id = await stage.addLinked('hubspot', ENTITY, { name: 'Sand ApS' });
    const reported = async (...payloads: readonly ReturnType<typeof renamed>[]) => {
      for (const payload of payloads) expect(await stage.post(payload)).toBe(204);
      await stage.atRest();
      await stage.settled();
      return stage.hubspot.get(id)?.['name'];
    };
    return { service, stage, id, reported };
  };

  test('takes a wrong fact out, so that an older event of the register is the newest again', async () => {
    const { service, stage, id, reported } = await fixture();
    expect(await reported(renamed('Sand ApS', 8), renamed('Forkert ApS', 20, 'Sand ApS'))).toBe('Forkert ApS');
    // Later by our clock, earlier by the wrong one: frozen.
    expect(await reported(renamed('Sandere ApS', 10))).toBe('Forkert ApS');
    const forgot = await stage.cli('facts', 'forget', ENTITY, 'name');
    expect([forgot.code, forgot.stdout]).toEqual([0, expect.stringContaining(`undo --entity ${ENTITY}`)]);
    // The record is looked at again: without a fact nothing is written, and the value stays ours.
    expect(await reported()).toBe('Forkert ApS');
    await expect.poll(() => service.changes.filter((call) => call.endsWith(' +update')).length).toBe(1);
    expect(await reported(renamed('Sandest ApS', 11))).toBe('Sandest ApS');
    const rules = (await stage.history(id)).filter(({ property }) => property === 'name').map(({ rule }) => rule);
    expect(rules.at(-1)).toBe('ours');
  });

  test('is recorded in history, and ends a difference that rests on the fact', async () => {
    const { stage, id, reported } = await fixture();
    stage.hubspot.edit(id, { name: 'Kundens eget navn' });
    expect(await reported(renamed('Forkert ApS', 20))).toBe('Kundens eget navn');
    expect((await stage.cli('review', 'list', '--kind', 'difference')).code).toBe(3);
    expect((await stage.cli('facts', 'forget', ENTITY, 'name')).code).toBe(0);
    expect((await stage.cli('review', 'list', '--kind', 'difference')).code).toBe(0);
    expect((await stage.cli('explain', ENTITY)).stdout).toMatch(
      /Facts forgotten\n.*name = "Forkert ApS" of 2026-03-02T20/u,
    );
    expect(await reported()).toBe('Kundens eget navn');
  });

  test('does not let a value count as one of the register that it never had: who wrote the same keeps it', async () => {
    const { stage, id, reported } = await fixture();
    stage.hubspot.edit(id, { name: 'Forkert ApS' });
    expect(await reported(renamed('Forkert ApS', 20))).toBe('Forkert ApS');
    expect((await stage.cli('facts', 'forget', ENTITY)).code).toBe(0);
    expect(await reported(renamed('Sandest ApS', 9))).toBe('Forkert ApS');
    const [last] = (await stage.history(id)).filter(({ property }) => property === 'name').slice(-1);
    expect(last).toMatchObject({ rule: 'edited', outcome: 'kept' });
  });

  test('says what it does not know', async () => {
    const { stage } = await fixture();
    const unknown = await stage.cli('facts', 'forget', ENTITY, 'navn');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('there is no field navn')]);
    const nothing = await stage.cli('facts', 'forget', ENTITY, 'fax');
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('nothing is known of fax')]);
  });
});
