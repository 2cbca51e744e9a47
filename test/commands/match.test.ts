import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { indexFindings } from '../../src/commands/check/index-state.ts';
import { askCli, runCli } from '../support/cli.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { newFolder, newStore } from '../support/stores.ts';

const A = cvrNumber(1);

async function setup() {
  const emulator = await startHubspotEmulator({ rate: 'none' });
  onTestFinished(() => emulator.close());
  const folder = newFolder();
  const file = path.join(folder, 'cvrsync.json');
  const providers = { hubspot: { use: 'hubspot', ...emulator.settings, match: { property: 'cvr_number' } } };
  const connector = { webhook: { auth: { method: 'None' } }, providers };
  writeFileSync(file, JSON.stringify({ store: path.join(folder, 's.db'), connector }));
  const companies = path.join(folder, 'companies.csv');
  writeFileSync(companies, `number,name,street,postalCode\n${A},Nordlys Møbler ApS,Ringvej 1,8000\nx,Ingen\n`);
  const run = (...line: string[]) => runCli(['--config', file, ...line]);
  await run('migrate');
  const ask = (typed: string, ...line: string[]) => askCli(typed, ['--config', file, ...line]);
  return { emulator, run, ask, companies, plan: path.join(folder, 'plan.csv') };
}

describe('match', () => {
  it('says how to create a missing index', async () => {
    const { run } = await setup();
    for (const line of [['hubspot'], ['find', 'Nordlys']]) {
      const { code, stderr } = await run('match', ...line);
      expect(code).toBe(1);
      expect(stderr).toContain('there is no company index yet');
      expect(stderr).toContain('cvrsync match index FILE');
    }
  });

  it('has a finding of check that says how to create the index', async () => {
    const [finding] = await indexFindings((await newStore('sqlite')).db, true);
    expect(finding?.advice).toMatch(/cvrsync match index FILE .* cvrsync match index --rebuild/u);
  });

  it('reads a file of companies, names its broken lines, and finds a company in it', async () => {
    const { run, companies } = await setup();
    const made = await run('match', 'index', companies);
    expect(made.code).toBe(3);
    expect(made.stdout).toContain('Indexed 1 companies and production units');
    expect(made.stdout).toContain('The index is partial');
    expect(made.stderr).toContain('line 3: number x is neither a CVR number nor a P-number');
    const { code, stdout } = await run(
      'match',
      'find',
      'Nordlys Moebler',
      '--street',
      'Ringvej 1',
      '--postal-code',
      '8000',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^certain\n {2}${A} {2}Nordlys Møbler ApS {2}\\(100: name equal but for the form; same address`, 'u'),
    );
    expect(stdout).toContain('no other company of the index has the name, but the index is partial');
    const danish = await run('match', 'find', 'Nordlys Møbler', '--language', 'da');
    expect(danish.code).toBe(3);
    expect(danish.stdout).toContain('navnet er ens bortset fra selskabsformen');
  });

  it('shows its results, writes a plan, and links the records of the plan', async () => {
    const { run, companies, emulator, plan } = await setup();
    await run('match', 'index', companies);
    const id = emulator.add({ name: 'Nordlys Møbler', address: 'Ringvej 1', zip: '8000' });
    emulator.add({ name: 'Fremmed Firma' });
    const shown = await run('match', 'hubspot');
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/ 1 {2}certain .*\n +1 {2}none /u);
    expect(shown.stdout).toContain(`${A} Nordlys Møbler ApS, 100: name equal but for the form; same address`);
    expect(shown.stdout).toContain('Nothing was linked.');
    expect((await run('match', 'hubspot', '--plan', plan, '--link-certain', '--yes')).stdout).toContain(
      'of which 1 line says link',
    );
    expect(readFileSync(plan, 'utf8')).toContain(`${id};Nordlys Møbler;${A};certain;link;`);
    const again = await run('match', 'hubspot', '--plan', plan);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("may hold somebody's work");
    expect((await run('match', 'hubspot', '--apply', plan)).stdout).toContain('Linked 1 record of hubspot');
    expect(JSON.parse((await run('--json', 'links')).stdout)).toMatchObject([{ record: id, entity: `CVR-1-${A}` }]);
  });

  it('shows 20 random certain matches before a plan links all of them, and asks', async () => {
    const { run, ask, companies, emulator, plan } = await setup();
    const numbers = Array.from({ length: 25 }, (_, at) => cvrNumber(100 + at));
    const lines = numbers.map((number, at) => `${number},Fjordbyg ${at} Aarhus ApS,Ringvej ${at + 1},8000`);
    writeFileSync(companies, ['number,name,street,postalCode', ...lines].join('\n'));
    await run('match', 'index', companies);
    for (const at of numbers.keys())
      emulator.add({ name: `Fjordbyg ${at} Aarhus ApS`, address: `Ringvej ${at + 1}`, zip: '8000' });
    const certain = ['match', 'hubspot', '--plan', plan, '--link-certain'];
    const silent = await run(...certain);
    expect(silent.code).toBe(2);
    expect(silent.stderr).toContain('Let the plan link 25 certain matches? cvrsync cannot ask here: add --yes');
    expect(existsSync(plan)).toBe(false);
    const refused = await ask('n\n', ...certain, '--seed', '7');
    expect(refused.shown).toContain('20 of the 25 certain matches, by chance (--seed 7 shows them again):');
    expect(refused.shown).toContain('of which 0 lines say link');
    const sampleOf = (shown: string) => shown.match(/^ {2}\d+ Fjordbyg .*: certain$/gmu);
    expect(sampleOf(refused.shown)).toHaveLength(20);
    rmSync(plan);
    const accepted = await ask('y\n', ...certain, '--seed', '7');
    expect(accepted.shown).toContain('of which 25 lines say link');
    expect(sampleOf(accepted.shown)).toEqual(sampleOf(refused.shown));
  });

  it('names records of a plan that got a number since', async () => {
    const { run, companies, emulator, plan } = await setup();
    await run('match', 'index', companies);
    const id = emulator.add({ name: 'Nordlys Møbler', address: 'Ringvej 1', zip: '8000' });
    await run('match', 'hubspot', '--plan', plan, '--link-certain', '--yes');
    emulator.edit(id, { cvr_number: cvrNumber(2) });
    const { code, stdout } = await run('match', 'hubspot', '--apply', plan);
    expect(code).toBe(3);
    expect(stdout).toContain('Linked 0 records of hubspot; 0 could not be linked.\nLeft out 1 record, changed');
    expect(stdout).toContain(`  ${id}: its number was blank when the plan was made, and is ${cvrNumber(2)} now`);
  });

  it('has a finding of check with the size and age of the index', async () => {
    const { run, companies } = await setup();
    expect((await run('check', '--json')).stdout).not.toContain('company index');
    await run('match', 'index', companies);
    expect(JSON.parse((await run('check', '--json')).stdout)).toContainEqual({
      level: 'ok',
      subject: 'company index',
      found: expect.stringMatching(
        /^1 companies and production units from companies.csv, 20\d\d-\d\d-\d\dT\d\d:\d\dZ; partial, as it has fewer than 500,000$/u,
      ),
    });
  });

  it('refuses options that contradict each other', async () => {
    const { run, plan } = await setup();
    expect((await run('match', 'hubspot', '--plan', plan, '--apply', plan)).code).toBe(2);
    expect((await run('match', 'hubspot', '--link-certain')).code).toBe(2);
    for (const line of [[], ['nowhere.csv']]) {
      const { code, stderr } = await run('match', 'index', ...line);
      expect(code).toBe(2);
      expect(stderr).toMatch(/file download of Datafordeler .* list of your own; docs\/match\.md names the columns/u);
    }
  });
});
