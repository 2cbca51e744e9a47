/** `completion`: what a real bash completes, from the command tree and the configuration. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/list.ts';
import { runCli } from '../support/cli.ts';
import { ENTRY } from '../support/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'cvrsync-completion-'));
afterAll(() => rm(folder, { recursive: true }));
const program = join(folder, 'cvrsync');
const script = join(folder, 'completion.bash');
const config = join(folder, 'cvrsync.yaml');

beforeAll(async () => {
  const { stdout, code } = await runCli(['completion', 'bash']);
  expect(code).toBe(0);
  await writeFile(script, stdout);
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${ENTRY}' "$@"\n`);
  await chmod(program, 0o755);
  await writeFile(config, 'connector: { providers: { hubspot: {}, north-sales: { use: nothing } }, prot: 1 }\n');
});

/** What bash offers at the end of each command line, given as its words. */
async function offered(...lines: readonly (readonly string[])[]): Promise<readonly string[]> {
  const calls = lines.map((words) => {
    const all = words.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${all}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _cvrsync; echo "\${COMPREPLY[@]}"`;
  });
  const text = [`source '${script}'`, ...calls].join('\n');
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', text], { cwd: folder });
  expect(stderr).toBe('');
  return stdout.split('\n').slice(0, -1);
}

describe('bash', () => {
  test('completes every command, its sub-commands, and options', async () => {
    const [all = '', keys, options = '', global = ''] = await offered(
      ['cvrsync', ''],
      ['cvrsync', '--config', 'x', 'keys', ''],
      ['cvrsync', 'review', 'list', '--'],
      ['cvrsync', '--'],
    );
    expect(all.split(' ')).toEqual(COMMANDS.map(({ name }) => name));
    expect(keys).toBe('create list revoke');
    expect(options.split(' ')).toEqual(expect.arrayContaining(['--kind', '--limit', '--json', '--help']));
    expect(global.split(' ')).toEqual(['--config', '--json', '--log-level', '--help', '--version']);
  });

  test('completes the values of options and arguments, also after =', async () => {
    expect(
      await offered(
        ['cvrsync', 'review', 'list', '--kind', 'd'],
        ['cvrsync', 'review', 'list', '--kind', '=', 'di'],
        ['cvrsync', '--log-level', 'tr'],
        ['cvrsync', 'emulate', 'r'],
        ['cvrsync', 'completion', 'ba'],
        ['cvrsync', 'config', 'init', 'hubspot', 'sa'],
        ['cvrsync', 'review', 'list', '--limit', ''],
        ['cvrsync', 'review', '--kind', 'link', 'ke'],
      ),
    ).toEqual(['document difference', 'difference', 'trace', 'register', 'bash', 'salesforce', '', 'keep']);
  });

  test('completes files', async () => {
    expect(
      await offered(['cvrsync', 'receive', `${folder}/comp`], ['cvrsync', '--config', `${folder}/cvrsync.y`]),
    ).toEqual([script, config]);
  });

  test('completes the connections of an invalid configuration', async () => {
    expect(await offered([program, 'backfill', ''], [program, '--config', config, 'undo', '--provider', 'n'])).toEqual([
      'hubspot north-sales',
      'north-sales',
    ]);
    expect(await runCli(['--config', '/nonexistent', 'completion', 'connections'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });
});

test.each(['zsh', 'fish'])('%s completes every command with its description and options', async (shell) => {
  const { stdout } = await runCli(['completion', shell]);
  const commands = await Promise.all(COMMANDS.map(async ({ load }) => (await load()).command));
  const between = shell === 'zsh' ? ':' : '\t';
  for (const { name, about } of commands)
    expect(stdout).toContain(`${name}${between}${about.replaceAll(/\s+/gu, ' ').slice(0, 12).split("'")[0]}`);
  expect(stdout).toContain(`--kind${between}`);
  expect(stdout).toMatch(/review list --kind'[\s\S]{1,40}account'?\s'?lane'?\s'?link/u);
});
