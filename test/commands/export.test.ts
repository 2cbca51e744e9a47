/** What `export` finds of a company and of a person: everything in the store that names them. */
import { describe, expect, it } from 'vitest';
import { isoTimeIn } from '../../src/commands/cli/when.ts';
import { COMPANY, playStory } from '../dashboard/story.ts';
import { ENGINES } from '../support/stores.ts';
import { rowsWith } from './whole-store.ts';

const PERSON = 'CVR-3-4000000001';

const exported = (stdout: string): readonly string[] => {
  const { tables }: { readonly tables: Readonly<Record<string, readonly object[]>> } = JSON.parse(stdout);
  return Object.entries(tables).flatMap(([table, rows]) => rows.map((row) => `${table} ${JSON.stringify(row)}`));
};

/** A row of the store, as a document has its times. */
function withIsoTimes(row: string): string {
  const at = row.indexOf(' ') + 1;
  return row.slice(0, at) + JSON.stringify(JSON.parse(row.slice(at)), isoTimeIn);
}

describe.each(ENGINES)('on %s', (engine) => {
  it.each([COMPANY, PERSON])('export prints every row that names %s, and those of its records', async (entity) => {
    const { fixture, records } = await playStory({ engine });
    const before = (await rowsWith(fixture.app.store, entity)).map(withIsoTimes);
    expect(before.length).toBeGreaterThan(1);
    const { code, stdout } = await fixture.cli('export', entity);
    expect(code).toBe(0);
    const rows = exported(stdout);
    expect(before.filter((row) => !rows.includes(row))).toEqual([]);
    const states = rows.filter((row) => row.startsWith('property_state '));
    expect(states.some((row) => row.includes(records.hubspot))).toBe(entity === COMPANY);
  });

  it('export accepts the number of a company', async () => {
    const { fixture } = await playStory({ engine });
    const { stdout } = await fixture.cli('export', COMPANY.slice(6));
    const tables = new Set(exported(stdout).map((row) => row.split(' ', 1)[0]));
    expect([...tables]).toEqual(expect.arrayContaining(['receipt', 'fact', 'link', 'history', 'property_state']));
    const ofNobody = exported((await fixture.cli('export', 'CVR-1-10000009')).stdout);
    // The audit names whom an export was asked of.
    expect(ofNobody).toEqual([expect.stringMatching(/^audit .*"entity\.export","subject":"CVR-1-10000009"/u)]);
  });
});
