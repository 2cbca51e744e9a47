/** The places of problems in a configuration file, and the parts of their lines that are shown. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-file.ts';
import { runCli } from '../support/cli.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cvrsync-places-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function errorsOf(text: string, env: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'cvrsync.yaml');
  await writeFile(file, text);
  const load = await loadConfig({ file, env });
  return load.ok ? [] : load.errors;
}

/** Each problem as `line:column path`. */
const placesOf = async (text: string) =>
  (await errorsOf(text)).map(({ line, column, path }) => `${line}:${column} ${path}`);

const CONNECTOR = `connector:
  webhook: { auth: { method: None } }
  providers:
    hubspot:
      use: hubspot
      accessToken: a-token
`;

describe('a problem is located', () => {
  test.each([
    ['at its key, if that is not known', 'server:\n  # note\n  prot: 1\n', ['3:3 server.prot']],
    ['at its value', 'server:\n  port:   99999\n', ['2:11 server.port']],
    ['at the section that lacks a key', `service:\n  emailEvent: mail\n`, ['1:1 service.register']],
    [
      'in a map of one line',
      `${CONNECTOR}      match: { property: 7, nme: x }\n`,
      ['7:29 connector.providers.hubspot.match.nme'],
    ],
    ['in a list', `roles:\n  - ingest\n  - snyc\n`, ['3:5 roles.1']],
    ['behind a variable', `${CONNECTOR}      policy: "\${POLICY}"\n`, ['7:15 connector.providers.hubspot.policy']],
    ['at a file of a secret', `admin:\n  token_FILE: /nowhere/at/all\n`, ['2:15 admin.token_FILE']],
    ['where an anchor was set', 'server: &one\n  prot: 1\nadmin: *one\n', ['2:3 server.prot', '2:3 admin.prot']],
    [
      'where << takes it from',
      `server: &one { prot: 1 }\nadmin:\n  <<: *one\n  port: 5\n`,
      ['1:16 server.prot', '1:16 admin.prot'],
    ],
    ['at a name with a dot', `${CONNECTOR}    sales.force: { use: http }\n`, ['7:5 connector.providers.sales.force']],
    ['in JSON', '{\n  "server": {\n    "prot": 1\n  }\n}\n', ['3:5 server.prot']],
    [
      'behind a byte order mark and with the line ends of Windows',
      '\uFEFFserver:\r\n  prot: 1\r\n',
      ['2:3 server.prot'],
    ],
  ])('%s', async (_name, text, places) => {
    expect(await placesOf(text)).toEqual(expect.arrayContaining(places));
  });

  test('in the order of the file', async () => {
    expect(await placesOf('store: ""\nserver: { prot: 1 }\nadmin: { prot: 1 }\n')).toEqual([
      '1:8 store',
      '2:11 server.prot',
      '3:10 admin.prot',
    ]);
  });

  test('also in a file without a line', async () => {
    for (const text of ['[]', '7', '"text"'])
      expect(await errorsOf(text), text).toEqual([expect.objectContaining({ line: 1, column: 1 })]);
  });
});

describe('YAML that is not valid says where and what to do', () => {
  test.each([
    [
      'a line that is indented too little',
      'server:\n    host: a\n  port: 1\n',
      '3:1',
      'a different column from its section',
    ],
    ['a tab', 'server:\n\tport: 1\n', '2:1', 'use spaces'],
    ['a key twice', 'store: a\nstore: b\n', '2:1', 'given twice'],
    ['a quote that stays open', 'store: a\nadmin:\n  host: "a\nserver: {}\n', '3:9', 'not closed'],
    ['a bracket that stays open', 'roles: [ingest\nstore: a\n', '2:1', 'not closed'],
    ['a value that begins with a sign', 'store: @x\n', '1:8', 'must be in quotes'],
    ['a tag', 'store: !x y\n', '1:8', 'must be in quotes'],
    ['a colon in a value', 'store: a: b\n', '1:8', 'must be in quotes'],
    ['a line without a colon', 'store\nserver: {}\n', '1:1', 'has no colon'],
    ['an anchor that is not set', 'store: a\nserver: *none\n', '2:9', 'must be in quotes'],
    ['a list merged as a section', 'admin:\n  <<: [1]\n', '2:3', 'must name a section'],
    ['a second document', 'store: a\n---\nstore: b\n', '2:1', 'a second document'],
  ])('%s', async (_name, text, place, message) => {
    const [error, ...more] = await errorsOf(text);
    expect(more).toEqual([]);
    expect([`${error?.line}:${error?.column}`, error?.message]).toEqual([place, expect.stringContaining(message)]);
  });
});

describe('a key with wrong indentation is reported with its right place', () => {
  test.each([
    ['too little', `${CONNECTOR}  accessKey: x\n`, 'It belongs in connector.upstream: check its indentation'],
    ['too much', 'server:\n  port: 1\n  store: x\n', 'It belongs at the left margin: check its indentation'],
    ['too little by all', `${CONNECTOR}upstream:\n  baseUrl: http://x\n`, 'It belongs in connector: check'],
  ])('%s', async (_name, text, hint) => {
    expect((await errorsOf(text)).map(({ message }) => message).join()).toContain(hint);
  });

  test('and an unknown key with how to look keys up', async () => {
    expect(await errorsOf('server: { colour: red }')).toMatchObject([
      { message: expect.stringContaining('config schema') },
    ]);
  });
});

describe('the line is shown with a caret', () => {
  const excerpts = async (text: string) => (await errorsOf(text)).map(({ excerpt = '' }) => excerpt.split('\n'));

  test('below the letter', async () => {
    expect(await excerpts('server:\n  port: 99999\n')).toEqual([['2 |   port: 99999', '  |         ^']]);
  });

  test('in part, if it is long', async () => {
    const many = Array.from({ length: 40 }, () => 'ingest').join(', ');
    const [[line = '', caret = ''] = []] = await excerpts(`roles: [${many}, nothing, ${many}]`);
    expect(line.length).toBeLessThan(110);
    expect(line.slice(caret.length - 1)).toMatch(/^nothing, ingest/u);
  });

  test.each([
    ['a secret', `admin: { token: sesame, prot: 1 }`],
    ['a secret below a key that is not known', `admin: { tokn: sesame }`],
    [
      'a secret of a provider',
      `${CONNECTOR}      policy: x\n    other: { use: hubspot, accessToken: sesame, policy: x }\n`,
    ],
    ['a key of a provider that cannot be loaded', `${CONNECTOR}    b: { use: nothing, apiKey: sesame }\n`],
    ['a password in an address', 'store: postgres://a:sesame@b/c\nserver: { prot: 1, host: "http://a:sesame@b/" }\n'],
    ['a secret over several lines', 'admin:\n  token: |\n    sesame\n  prot: {}\n'],
    ['a section in place of a secret', 'admin:\n  token: { sesame }\n'],
    ['a comment', 'server:\n  prot: 1 # sesame\n'],
    ['an anchor', 'server: { prot: &sesame 1 }\n'],
    ['an alias without its anchor', 'admin: { token: *sesame }\n'],
    ['an alias that is none', 'admin: { token: !sesame x }\n'],
    ['a line that is not YAML', 'admin:\n  token: "sesame" sesame\n'],
    ['a quote that stays open', 'admin:\n  token: "sesame\n'],
    ['a word that stands alone', 'sesame\nserver: {}\n'],
    ['an unquoted variable', `admin: { token: \${A} sesame }\n`],
    ['a fallback', `${CONNECTOR}    b: { use: hubspot, accessToken: "\${A:-sesame}", polcy: x }\n`],
  ])('without %s', async (_name, text) => {
    const errors = await errorsOf(text);
    expect(errors).not.toEqual([]);
    expect(JSON.stringify(errors)).not.toContain('sesame');
  });

  test('on the terminal, and as numbers with --json', async () => {
    const file = join(folder, 'cli.yaml');
    await writeFile(file, 'server:\n  prot: 1\n');
    const [shown, json] = [
      await runCli(['--config', file, 'config', 'show']),
      await runCli(['--config', file, '--json', 'config', 'show']),
    ];
    expect([shown.code, shown.stderr]).toEqual([
      2,
      `cvrsync: the configuration ${file} cannot be used\n  line 2, column 3: server.prot is not known; did you mean port?\n    2 |   prot: ***\n      |   ^\n`,
    ]);
    expect(JSON.parse(json.stderr)).toMatchObject({ errors: [{ path: 'server.prot', line: 2, column: 3 }] });
  });
});
