/** A way to forget a wrong fact: `facts forget`. */
import { describe, expect, test } from 'vitest';
import { payloadOf } from '../../src/protocol/payload.ts';
import { ENTITY } from '../faults/company.ts';
import { startFixture } from '../support/fixture.ts';
import { serveService } from '../support/service.ts';
import { SUITE_ENGINES } from '../support/stores.ts';

const at = (hour: number): string => new Date(Date.UTC(2026, 2, 2, hour)).toISOString();
const renamed = (after: string, hour: number, before: string | null = null) =>
  payloadOf(ENTITY, at(hour), { name: { before, after } });

describe.each(SUITE_ENGINES)('facts forget, on %s', (engine) => {
  const setUp = async () => {
    const service = await serveService();
    const upstream = { baseUrl: service.url, accessKey: service.accessKey };
    const fields = { name: { property: 'name', policy: 'tracked' } };
    const fixture = await startFixture({ engine, upstream, connections: { hubspot: { fields } } });
    const id = await fixture.addLinked('hubspot', ENTITY, { name: 'Sand ApS' });
    const reported = async (...payloads: readonly ReturnType<typeof renamed>[]) => {
      for (const payload of payloads) expect(await fixture.post(payload)).toBe(204);
      await fixture.atRest();
      await fixture.settled();
      return fixture.hubspot.get(id)?.['name'];
    };
    return { service, fixture, id, reported };
  };

  test('removes a wrong fact, so that an older event of the register is the newest again', async () => {
    const { service, fixture, id, reported } = await setUp();
    expect(await reported(renamed('Sand ApS', 8), renamed('Forkert ApS', 20, 'Sand ApS'))).toBe('Forkert ApS');
    // Later by our clock, earlier by the wrong one: frozen.
    expect(await reported(renamed('Sandere ApS', 10))).toBe('Forkert ApS');
    const forgot = await fixture.cli('facts', 'forget', ENTITY, 'name');
    expect([forgot.code, forgot.stdout]).toEqual([0, expect.stringContaining(`undo --entity ${ENTITY}`)]);
    // The record is looked at again: without a fact nothing is written, and the value stays ours.
    expect(await reported()).toBe('Forkert ApS');
    await expect.poll(() => service.changes.filter((call) => call.endsWith(' +update')).length).toBe(1);
    expect(await reported(renamed('Sandest ApS', 11))).toBe('Sandest ApS');
    const rules = (await fixture.history(id)).filter(({ property }) => property === 'name').map(({ rule }) => rule);
    expect(rules.at(-1)).toBe('ours');
  });

  test('is recorded in history, and ends a difference that depends on the fact', async () => {
    const { fixture, id, reported } = await setUp();
    fixture.hubspot.edit(id, { name: 'Kundens eget navn' });
    expect(await reported(renamed('Forkert ApS', 20))).toBe('Kundens eget navn');
    expect((await fixture.cli('review', 'list', '--kind', 'difference')).code).toBe(3);
    expect((await fixture.cli('facts', 'forget', ENTITY, 'name')).code).toBe(0);
    expect((await fixture.cli('review', 'list', '--kind', 'difference')).code).toBe(0);
    expect((await fixture.cli('explain', ENTITY)).stdout).toMatch(
      /Facts forgotten\n.*name = "Forkert ApS" of 2026-03-02T20/u,
    );
    expect(await reported()).toBe('Kundens eget navn');
  });

  test('removes the value from the known ones of the register, so that an equal edit of a person is kept', async () => {
    const { fixture, id, reported } = await setUp();
    fixture.hubspot.edit(id, { name: 'Forkert ApS' });
    expect(await reported(renamed('Forkert ApS', 20))).toBe('Forkert ApS');
    expect((await fixture.cli('facts', 'forget', ENTITY)).code).toBe(0);
    expect(await reported(renamed('Sandest ApS', 9))).toBe('Forkert ApS');
    const [last] = (await fixture.history(id)).filter(({ property }) => property === 'name').slice(-1);
    expect(last).toMatchObject({ rule: 'edited', outcome: 'kept' });
  });

  test('names unknown companies and fields', async () => {
    const { fixture } = await setUp();
    const unknown = await fixture.cli('facts', 'forget', ENTITY, 'navn');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('there is no field navn')]);
    const nothing = await fixture.cli('facts', 'forget', ENTITY, 'fax');
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('nothing is known of fax')]);
  });
});
