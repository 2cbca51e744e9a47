/** A person's word above the policy: release, hold, trust and differences, by the real commands beside the daemon. */
import { describe, expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { CRMS, ENTITY, renamed } from '../faults/company.ts';
import { handClock } from '../support/clock.ts';
import { type Fixture, type FixtureOptions, startFixture } from '../support/fixture.ts';
import { ENGINES } from '../support/stores.ts';

const CASES = CRMS.flatMap((crm, index) => [{ engine: ENGINES[index] ?? 'sqlite', ...crm }]);

const rulesOf = async (fixture: Fixture, id: string, name: string): Promise<readonly string[]> =>
  (await fixture.history(id)).filter(({ property }) => property === name).map(({ rule }) => rule);

describe.each(CASES)('$crm on $engine', ({ crm, engine, name, own, write }) => {
  /** A record whose name a person changed from A, while the register said B. */
  async function edited(options: FixtureOptions = {}): Promise<{ fixture: Fixture; id: string; record: string }> {
    const fixture = await startFixture({ engine, ...options });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS (VIP)' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS (VIP)', [own]: 'B ApS' });
    return { fixture, id, record: `${crm}:${id}` };
  }

  /** The name in the CRM once the daemon has done what a command asked for. */
  async function nameOf(fixture: Fixture, id: string): Promise<unknown> {
    await fixture.settled();
    return fixture[crm].get(id)?.[name];
  }

  test('a release lets the register win until it is cleared', async () => {
    const { fixture, id, record } = await edited();
    expect((await fixture.cli('release', record, name)).code).toBe(0);
    expect(await nameOf(fixture, id)).toBe('B ApS');
    fixture[crm].edit(id, { [name]: 'B ApS (VIP)' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    expect(await nameOf(fixture, id)).toBe('C ApS');
    expect((await fixture.cli('release', record, name, '--clear')).code).toBe(0);
    // The command has the record looked at: an edit before that look would be decided twice.
    await fixture.settled();
    fixture[crm].edit(id, { [name]: 'C ApS (VIP)' });
    await fixture.post(renamed('C ApS', 'D ApS', 10));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'C ApS (VIP)', [own]: 'D ApS' });
    expect(await rulesOf(fixture, id, name)).toEqual(['edited', 'released', 'released', 'edited']);
    expect((await fixture.cli('release', record, name, '--clear')).code).toBe(1);
  });

  test('a release with --once ends with the first write', async () => {
    const { fixture, id, record } = await edited();
    await fixture.cli('release', record, name, '--once');
    expect(await nameOf(fixture, id)).toBe('B ApS');
    fixture[crm].edit(id, { [name]: 'B ApS (VIP)' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS (VIP)' });
    expect(await fixture.app.store.db.selectFrom('override').selectAll().execute()).toEqual([]);
  });

  test('a hold protects a property or the whole record, and missed values are written when it is cleared', async () => {
    const { fixture, id, record } = await edited();
    fixture[crm].edit(id, { [name]: 'B ApS' });
    expect((await fixture.cli('hold', record, name, '--reason', 'asked by sales')).code).toBe(0);
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'C ApS' });
    expect((await fixture.cli('explain', record)).stdout).toMatch(/hold, nothing is written.*asked by sales/u);
    expect((await fixture.cli('hold', record)).code).toBe(0);
    await fixture.post(renamed('C ApS', 'D ApS', 10));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS', [own]: 'C ApS' });
    const lifted = await fixture.cli('hold', record, '--clear');
    expect([lifted.code, lifted.stdout]).toEqual([0, `The hold on ${record} has ended. Still on hold: ${name}.\n`]);
    expect((await fixture.cli('hold', record, name, '--clear')).stdout).toBe(
      `The hold on ${name} of ${record} has ended.\n`,
    );
    expect(await nameOf(fixture, id)).toBe('D ApS');
  });

  test('a hold with an end ends by itself', async () => {
    const clock = handClock();
    const { fixture, id, record } = await edited({ clock });
    fixture[crm].edit(id, { [name]: 'A ApS' });
    const until = new Date(Date.now() + 60_000).toISOString();
    expect((await fixture.cli('hold', record, name, '--until', until)).code).toBe(0);
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS', [own]: 'C ApS' });
    expect((await fixture.cli('explain', record)).stdout).toMatch(/sync:\w+ \w+: waiting until [\d: Z-]+$/mu);
    clock.forward(61_000);
    await expect.poll(() => nameOf(fixture, id), { timeout: 120_000 }).toBe('C ApS');
  });

  test('differences are listed on request, and a person resolves them', async () => {
    const { fixture, id, record } = await edited();
    expect(await fixture.cli('review', 'list')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 property holds another value'),
    });
    const listed = await fixture.cli('review', 'list', '--kind', 'difference', '--json');
    const found: { id: string; about: string; reason: string }[] = JSON.parse(listed.stdout);
    expect([listed.code, found]).toMatchObject([
      3,
      [{ about: `${record} ${name}`, reason: `the CRM holds "A ApS (VIP)", the register says "B ApS" of ${ENTITY}` }],
    ]);
    expect((await fixture.cli('review', 'keep', found[0]?.id ?? '')).code).toBe(0);
    expect((await fixture.cli('review', 'list', '--kind', 'difference')).code).toBe(0);
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(id)).toMatchObject({ [name]: 'A ApS (VIP)' });
    expect((await fixture.cli('hold', record, name, '--clear')).code).toBe(0);
    await fixture.settled();
    expect((await fixture.cli('review', 'list', '--kind', 'difference')).code).toBe(3);
    expect((await fixture.cli('review', 'accept', '--all', '--yes', '--property', name)).code).toBe(0);
    expect(await nameOf(fixture, id)).toBe('C ApS');
    expect((await fixture.cli('review', 'list', '--kind', 'difference')).code).toBe(0);
  });

  describe('a link that trusts the register', () => {
    async function trusting(properties: object): Promise<{ fixture: Fixture; id: string }> {
      const fixture = await startFixture({ engine });
      await fixture.post(renamed('A ApS', 'B ApS'));
      await fixture.settled();
      const id = fixture[crm].add({ ...properties });
      const desired = { provider: crm, recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() };
      await fixture.app.store.write((tx) => linkRecord(tx, { ...desired, origin: 'number', trust: 'register' }));
      await fixture.settled();
      return { fixture, id };
    }

    test('overwrites differing values once, with history, and undo restores them', async () => {
      const { fixture, id } = await trusting({ [name]: 'Mine ApS' });
      expect(fixture[crm].get(id)).toMatchObject({ [name]: 'B ApS' });
      fixture[crm].edit(id, { [name]: 'Mine again ApS' });
      await fixture.post(renamed('B ApS', 'C ApS', 9));
      await fixture.settled();
      expect(fixture[crm].get(id)).toMatchObject({ [name]: 'Mine again ApS' });
      expect(await rulesOf(fixture, id, name)).toEqual(['trusted', 'edited']);
      fixture[crm].edit(id, { [name]: 'B ApS' });
      expect((await fixture.cli('undo', '--yes', '--provider', crm, '--since', '2026-01-01')).code).toBe(0);
      expect(fixture[crm].get(id)).toMatchObject({ [name]: 'Mine ApS' });
    });

    test('undo keeps cvr_changed_at, and says so', async () => {
      const { fixture, id } = await trusting({ [name]: 'Mine ApS' });
      const property = crm === 'hubspot' ? 'cvr_changed_at' : 'CVR_Changed_At__c';
      const changedAt = fixture[crm].get(id)?.[property];
      expect(changedAt).toEqual(expect.stringContaining('2026'));
      const { code, stdout } = await fixture.cli('undo', '--yes', '--entity', ENTITY);
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining(`${property} stays as it is, because the register did change then.`),
      ]);
      expect(fixture[crm].get(id)).toMatchObject({ [name]: 'Mine ApS', [property]: changedAt });
    });

    test('counts equal values as overwritten, so that a later edit is kept', async () => {
      const { fixture, id } = await trusting({ [name]: 'B ApS' });
      fixture[crm].edit(id, { [name]: 'Mine ApS' });
      await fixture.post(renamed('B ApS', 'C ApS', 9));
      await fixture.settled();
      expect(await rulesOf(fixture, id, name)).toEqual(['same', 'edited']);
    });

    test("keeps a person's value in history if the answer to the write is lost", async () => {
      const fixture = await startFixture({ engine, clock: handClock() });
      await fixture.post(renamed('A ApS', 'B ApS'));
      await fixture.settled();
      const id = fixture[crm].add({ [name]: 'Mine ApS' });
      fixture[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
      const desired = { provider: crm, recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() };
      await fixture.app.store.write((tx) => linkRecord(tx, { ...desired, origin: 'number', trust: 'register' }));
      await fixture.atRest();
      expect(await rulesOf(fixture, id, name)).toEqual(['ours-after-all', 'same']);
      expect((await fixture.cli('undo', '--yes', '--entity', ENTITY, '--property', name)).code).toBe(0);
      expect(fixture[crm].get(id)).toMatchObject({ [name]: 'Mine ApS' });
    });
  });
});

test('an override on an unknown property or record is refused with the known ones', async () => {
  const fixture = await startFixture();
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  const said = async (...argv: readonly string[]): Promise<string> => {
    const { code, stderr } = await fixture.cli(...argv);
    return `${code} ${stderr}`;
  };
  expect(await said('release', `hubspot:${id}`, 'nmae')).toMatch(
    /^2 .*nmae is not written by hubspot: it writes name/su,
  );
  expect(await said('release', 'hubspot:404', 'name')).toMatch(/^1 .*is not linked to a company/su);
  expect(await said('release', 'hubspto:1', 'name')).toMatch(/^2 .*hubspot/su);
  expect(await said('hold', 'hubspot')).toMatch(/^2 .*not a record: write it as hubspot:123/su);
  expect(await said('hold', `hubspot:${id}`, '--until', '2020-01-01')).toMatch(/^2 .*is in the past/su);
  expect(await said('hold', `hubspot:${id}`, '--until', 'soon')).toMatch(/^2 .*is not a date/su);
  expect(await said('hold', `hubspot:${id}`, '--clear')).toMatch(/^1 .*is not on hold/su);
  expect(await said('undo')).toMatch(/^2 .*name the writes/su);
});

test('an override on a merged record is refused with the survivor, which has its overrides', async () => {
  const fixture = await startFixture();
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  expect((await fixture.cli('hold', `hubspot:${id}`, 'name')).code).toBe(0);
  const survivor = fixture.hubspot.merge(id, fixture.hubspot.add({ name: 'B ApS' }));
  await fixture.post(renamed('A ApS', 'C ApS'));
  await fixture.settled();
  for (const argv of [['hold', '--clear'], ['release']]) {
    const [command = '', ...rest] = argv;
    const { code, stderr } = await fixture.cli(command, `hubspot:${id}`, 'name', ...rest);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`merged in the CRM into record ${survivor}: name the surviving record`),
    ]);
  }
  expect((await fixture.cli('hold', `hubspot:${survivor}`, 'name', '--clear')).code).toBe(0);
});
