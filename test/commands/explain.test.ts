/** What `explain` answers first: by the CRM as it is now, for a record that is named in any of the ways people do. */
import { describe, expect, test } from 'vitest';
import { CRMS, ENTITY, renamed, reported } from '../faults/company.ts';
import { askCli } from '../support/cli.ts';
import { type Fixture, type FixtureOptions, startFixture } from '../support/fixture.ts';
import { ENGINES } from '../support/stores.ts';

const CASES = CRMS.map((crm, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...crm }));
const ADDRESSES: Readonly<Record<string, (id: string) => readonly string[]>> = {
  hubspot: (id) => [
    `https://app.hubspot.com/contacts/1234567/record/0-2/${id}`,
    `https://app-eu1.hubspot.com/contacts/1234567/company/${id}/?tab=overview`,
  ],
  salesforce: (id) => [
    `https://birk.lightning.force.com/lightning/r/Account/${id}/view`,
    `https://birk.my.salesforce.com/${id.slice(0, 15)}`,
  ],
};

/** What is said where HubSpot names no users, and Salesforce tracks no field. */
const LESS = {
  hubspot: /^HubSpot user \d+ changed name to "B ApS \(VIP\)" .*, at/u,
  salesforce: /^Bo Lind changed the record .*, at/u,
} as const;

describe.each(CASES)('explain in $crm, with $engine', ({ crm, engine, name, own }) => {
  /** A record whose name a person changed since the last write, which the daemon does not know. */
  async function edited(options: Partial<FixtureOptions> = {}): Promise<{ fixture: Fixture; id: string }> {
    const fixture = await startFixture({ engine, ...options });
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    fixture[crm].edit(id, { [name]: 'B ApS (VIP)' }, 'Bo Lind');
    return { fixture, id };
  }
  /** The five lines under the record's name, by their labels. */
  const answer = (stdout: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      stdout
        .split('\n')
        .slice(3, 8)
        .map((line) => [line.slice(2, 14).trim(), line.slice(14)]),
    );

  test('a property: its value, the value of the register, the rule, the last write, and the remedy', async () => {
    const { fixture, id } = await edited();
    await fixture.post(reported({ status: { before: null, after: 'NORMAL' } }, 9));
    await fixture.settled();
    const { code, stdout } = await fixture.cli('explain', `${crm.toUpperCase()}:${id}`, name.toUpperCase());
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${ENTITY}\n\n${crm}:${id} `)]);
    expect(answer(stdout)).toEqual({
      'Holds now': '"B ApS (VIP)"',
      Register: '"B ApS" (event 1)',
      Rule: 'edited: a person changed it, and cvrsync keeps that',
      'Last write': expect.stringMatching(/cvrsync wrote "B ApS" .*, at \S+ \S+ by event 1$/u),
      'What to do': expect.stringContaining(`cvrsync release ${crm}:${id} ${name} --once`),
    });
    expect(stdout).not.toMatch(new RegExp(`→ ${own}:|status`, 'u'));
    expect(stdout).toContain('name = "B ApS"');
    expect((await fixture.cli('explain', `${crm}:${id}`, 'nmae')).stderr).toContain('has the property nmae');
  });

  test('shows the age of each time only on a terminal', async () => {
    const { fixture, id } = await edited();
    expect((await fixture.cli('explain', `${crm}:${id}`)).stdout).not.toMatch(/\dZ \(/u);
    const { shown } = await askCli('', ['--config', fixture.configFile, 'explain', `${crm}:${id}`]);
    expect(shown).toMatch(/received \S+ \S+Z \((?:now|[\d]+ \w+ ago)\): name/u);
    expect(shown).toMatch(/synced \S+ \S+Z \((?:now|[\d]+ \w+ ago)\)/u);
  });

  test('a property that a person edited: the person, if the CRM names them', async () => {
    const scopes = ['read', 'write'].map((right) => `crm.objects.companies.${right}`);
    const owners = [...scopes, 'crm.objects.owners.read'];
    const { fixture, id } = await edited({ hubspot: { scopes: owners }, salesforce: { trackedFields: [name] } });
    const said = answer((await fixture.cli('explain', `${crm}:${id}`, name)).stdout);
    const what = `Bo Lind changed ${name} to "B ApS \\(VIP\\)"`;
    expect(said['Last write']).toMatch(
      new RegExp(`^${what} .*, at \\S+ \\S+; before that cvrsync wrote "B ApS" .*, at`, 'u'),
    );
    const untold = await edited({ hubspot: { scopes } });
    const less = answer((await untold.fixture.cli('explain', `${crm}:${untold.id}`, name)).stdout);
    expect(less['Last write']).toMatch(LESS[crm]);
  });

  test('a record: its differences, counted and named', async () => {
    const { fixture, id } = await edited();
    const said = answer((await fixture.cli('explain', `${crm}:${id}`)).stdout);
    expect(said).toMatchObject({
      'Holds now': expect.stringMatching(
        new RegExp(`hold the register's value; others: ${name} "B ApS \\(VIP\\)"$`, 'u'),
      ),
      Register: `${name} "B ApS"`,
      Rule: `edited: ${name}`,
      'What to do': `for each property: cvrsync explain ${crm}:${id} PROPERTY, such as ${name}`,
    });
    fixture[crm].edit(id, { [name]: 'B ApS' });
    expect(answer((await fixture.cli('explain', ENTITY)).stdout)).toMatchObject({
      Rule: "same: the CRM holds the register's values",
      'What to do': 'nothing',
    });
    expect(JSON.parse((await fixture.cli('explain', ENTITY, '--json')).stdout)).toMatchObject({
      records: [{ provider: crm, recordId: id, current: { kind: 'compared' } }],
    });
  });

  test('the answer comes from the store if the CRM cannot be read, and says so', async () => {
    const { fixture, id } = await edited();
    await fixture[crm].close();
    const { code, stdout } = await fixture.cli('explain', `${crm}:${id}`, name);
    expect(code).toBe(0);
    expect(answer(stdout)).toMatchObject({
      'Holds now': expect.stringMatching(
        /^not known, because the CRM could not be asked \(.+\)\. From the store: "B ApS"$/u,
      ),
      'Last write': expect.stringContaining('cvrsync wrote "B ApS"'),
      'What to do': expect.stringContaining('try again once the CRM answers'),
    });
  });

  test("the address of the record's page is accepted as its name, here and by other commands", async () => {
    const { fixture, id } = await edited();
    for (const address of ADDRESSES[crm]?.(id) ?? []) {
      expect((await fixture.cli('explain', address, name)).stdout).toContain(`${crm}:${id} ${name}`);
      expect((await fixture.cli('links', crm, '--record', address)).stdout).toContain(ENTITY);
      expect((await fixture.cli('hold', address, name)).code).toBe(0);
      expect((await fixture.cli('hold', `${crm}:${address}`, name, '--clear')).code).toBe(0);
    }
    const elsewhere = await fixture.cli('explain', `https://example.com/contacts/1/company/${id}`);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('is the address of no company')]);
  });
});
