/** Runs the session in docs/match.md as it is written there. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/match.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gmu'))].map(([, text = '']) => text);

/** The commands of the page, each with what it printed. */
const STEPS = blocks('console').flatMap((block) =>
  block
    .split(/^\$ cvrsync /mu)
    .slice(1)
    .map((step) => {
      const [command = '', ...printed] = step.split('\n');
      const argv = [...command.matchAll(/"([^"]*)"|(\S+)/gu)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      return { argv, printed: printed.join('\n') };
    }),
);

test('the page shows what the commands print', async () => {
  const fixture = await startFixture({ connections: { hubspot: { match: { property: 'cvr_number' } } } });
  const folder = newFolder();
  await writeFile(join(folder, 'companies.csv'), blocks('csv').join(''));
  fixture.hubspot.add({ name: 'Nordlys Moebler', address: 'Ringvej 1', zip: '8000', city: 'Aarhus' });
  fixture.hubspot.add({ name: 'Havblik', address: 'Kystvejen 12', zip: '5000', city: 'Odense' });
  fixture.hubspot.add({ name: 'Fjordens Bageri', city: 'Vejle' });
  expect(STEPS.length).toBe(6);
  for (const { argv, printed } of STEPS) {
    const placed = argv.map((each) => (each.endsWith('.csv') ? join(folder, each) : each));
    const { stdout } = await fixture.cli('--log-level', 'error', ...placed);
    // How long it took is the machine's.
    const shown = stdout
      .replaceAll(`${folder}/`, '')
      .replaceAll(` --config ${fixture.configFile}`, '')
      .replace(/ in \d+ s\./u, ' in 0 s.');
    expect(shown, argv.join(' ')).toBe(printed);
  }
});
