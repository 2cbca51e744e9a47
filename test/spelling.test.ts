/** The check of the spelling finds a wrong word in a document and in a comment, and passes over code. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder } from './support/stores.ts';

const CHECK = join(import.meta.dirname, '../.ci/spelling.js');

/** What the check says of a repository with these files. */
function checked(files: Readonly<Record<string, string>>) {
  const folder = newFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [CHECK], { cwd: folder, encoding: 'utf8' });
  return { status, found: stderr.split('\n').filter((line) => line.includes(':') && !line.includes('unknown words')) };
}

describe('the spelling', () => {
  it('names each wrong word with its file and line', () => {
    const files = {
      'README.md': '# Set up\n\nIt recieves the webhook.\n',
      'docs/links.md': 'A link folows its record, and **allways** so.\n',
      'src/links/links.ts':
        '/** Ends the link.\n *\n * Then the reccord. */\nexport const a = 1; // so that it stais\n',
      'providers/fields.ts': '// The colum of a CRM.\n',
      'test/some.test.ts': '/** It teststs. */\n',
    };
    expect(checked(files)).toEqual({
      status: 1,
      found: [
        'README.md:3 recieves',
        'docs/links.md:1 folows',
        'docs/links.md:1 allways',
        'providers/fields.ts:1 colum',
        'src/links/links.ts:3 reccord',
        'src/links/links.ts:4 stais',
        'test/some.test.ts:1 teststs',
      ],
    });
  });

  it('knows British words and the terms of ours, and no American ones', () => {
    const british = { 'README.md': "cvrsync's webhook recognises the colour of behaviour. A backfill's jitter.\n" };
    expect(checked(british)).toEqual({ status: 0, found: [] });
    const american = { 'README.md': 'It likes the color of behavior.\n' };
    expect(checked(american).found).toEqual(['README.md:1 color', 'README.md:1 behavior']);
  });

  it('passes over code, addresses, names and blocks', () => {
    const files = {
      'docs/page.md':
        'Run `cvrsnc servve`, see <https://examplle.com/pathh>, [here](otherr.md), `a` or readPge.\n\n```sh\nnppm ci\n```\n',
      'src/code.ts': "const reccord = 'teh text'; // see `teh`\nconst url = 'https://exampple.com';\n",
    };
    expect(checked(files)).toEqual({ status: 0, found: [] });
  });

  it('refuses words that a reader stumbles over in documents, comments, messages and texts of pages', () => {
    const files = {
      'docs/page.md': 'It reads the list anew.\n',
      'src/code.ts': "// The user is told of it.\nconst anew = 'sight';\nthrow new Error('by whom it was wished');\n",
      'src/texts/en.json': '{\n  "scan.anew": "Scan anew"\n}\n',
      'test/some.test.ts': '// It reads the list anew.\n',
    };
    expect(checked(files)).toEqual({
      status: 1,
      found: [
        'docs/page.md:1 anew (write again)',
        'src/code.ts:1 told of (write notified of, mentioned)',
        'src/code.ts:3 whom (write a sentence with "who" or a name)',
        'src/code.ts:3 wished (write desired)',
        'src/texts/en.json:2 anew (write again)',
      ],
    });
  });
});
