import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type Command, UsageError } from '../../src/commands/cli/command.ts';
import { ConfigError, maskedSink } from '../../src/commands/cli/context.ts';
import { showFailure } from '../../src/commands/cli/failure.ts';
import { createOutput, type Output } from '../../src/commands/cli/output.ts';
import type { TableRow } from '../../src/commands/cli/table.ts';
import { COMMANDS } from '../../src/commands/list.ts';
import { maskerOf } from '../../src/protocol/text/mask.ts';
import { runCli } from '../support/cli.ts';

const BIN = `${import.meta.dirname}/../../src/cvrsync.js`;
const spawned = async (...args: readonly string[]) => {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    once(child, 'close'),
  ]);
  return { stdout, stderr, code };
};

describe('the bin', () => {
  it('prints the version of the package', async () => {
    expect(await spawned(BIN, '--version')).toEqual({
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
      code: 0,
    });
  });

  it('explains in one line that Node is too old', async () => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } })`;
    const { stdout, stderr, code } = await spawned(
      '--import',
      `data:text/javascript,${encodeURIComponent(pretend)}`,
      BIN,
      'serve',
    );
    expect([stdout, code]).toEqual(['', 2]);
    expect(stderr).toMatch(/^cvrsync needs Node 24 or newer, this is Node 20\.11\.0[^\n]*\n$/);
  });
});

describe('bad usage', () => {
  it.each([
    [['nothing']],
    [['config', 'nothing']],
    [['config', 'schema', '--nothing']],
    [['--log-level', 'loud', 'config', 'schema']],
    [['config', 'schema', 'one', 'too many']],
    [[]],
  ])('%j exits with 2 and a message on stderr', async (argv) => {
    const ran = await runCli(argv);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).not.toBe('');
  });

  it('is a limit of 0, for every command that has one', async () => {
    const limited: string[] = [];
    const visit = (path: string, { options, commands }: Command): void => {
      const { limit } = options;
      if (limit !== undefined) {
        limited.push(path);
        expect(() => limit.read('0'), path).toThrow(new UsageError('0 is too small: give at least 1'));
        expect(limit.read('1'), path).toBe(1);
      }
      for (const each of commands) visit(`${path} ${each.name}`, each);
    };
    for (const { name, load } of COMMANDS) visit(name, (await load()).command);
    expect(limited).toEqual(expect.arrayContaining(['undo', 'match', 'backfill', 'runs list', 'deliveries replay']));
    const { code, stderr } = await runCli(['undo', '--since', '1h', '--limit', '0']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--limit <n>.* 0 is too small: give at least 1\./u)]);
  });

  it.each([[['--help']], [['config', '--help']], [['help', 'config']], [['--version']]])(
    '%j is valid',
    async (argv) => {
      const ran = await runCli(argv);
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(ran.stdout).not.toBe('');
    },
  );
});

describe('a failure', () => {
  const shown = (error: unknown, logLevel: 'info' | 'debug' = 'info', json = false) => {
    let text = '';
    const stderr = {
      write: (more: string) => {
        text += more;
      },
    };
    return { code: showFailure(error, stderr, { json, logLevel }), text };
  };
  const failed = new Error('cannot read the links', { cause: new Error('the database is locked') });

  it('leaves out a cause that repeats the message', () => {
    const inner = new Error('ENOENT: no such file');
    const told = shown(
      new Error('cannot read x (ENOENT: no such file)', { cause: new Error('gone', { cause: inner }) }),
    );
    expect(told.text).toBe('cvrsync: cannot read x (ENOENT: no such file)\n  because: gone\n');
  });

  it('prints the message with its causes, and a stack only in debug mode', () => {
    expect(shown(failed)).toEqual({
      code: 1,
      text: 'cvrsync: cannot read the links\n  because: the database is locked\n',
    });
    expect(shown(failed, 'debug').text).toContain('    at ');
    expect(JSON.parse(shown(failed, 'info', true).text)).toEqual({
      errorMessage: 'cannot read the links',
      reasons: ['the database is locked'],
    });
  });

  it('of usage or configuration exits with 2', () => {
    expect(shown(new UsageError('no such link')).code).toBe(2);
    expect(shown(new ConfigError('f', [])).code).toBe(2);
    expect(shown('odd').text).toBe('cvrsync: odd\n');
  });
});

describe('output', () => {
  const ROWS: TableRow[] = [
    { record: '1', name: 'Bageriet\nved \u001b[31mHavnen', open: true },
    { record: '23', name: null, since: 5 },
  ];
  const printed = (json: boolean, isTTY: boolean) => {
    let text = '';
    const output = createOutput(
      {
        write: (more) => {
          text += more;
        },
        isTTY,
        columns: 80,
      },
      json,
    );
    return { output, text: () => text };
  };

  it('shows the age of a time only on a terminal', () => {
    const at = Date.UTC(2026, 2, 1, 8);
    const shown = [false, true].map((isTTY) =>
      createOutput({ write: () => undefined, isTTY }, false, false, () => at + 3 * 3_600_000).time(at),
    );
    expect(shown).toEqual(['2026-03-01 08:00:00Z', '2026-03-01 08:00:00Z (3 hr ago)']);
  });

  it('is tab-separated in a pipe, a drawn table on a terminal, and one document for programs', () => {
    const [pipe, terminal, program] = [printed(false, false), printed(false, true), printed(true, true)];
    for (const { output } of [pipe, terminal, program]) {
      output.line('for people');
      output.table(ROWS);
    }
    expect(pipe.text().split('\n').slice(0, 3)).toEqual([
      'for people',
      'record\tname\topen\tsince',
      '1\tBageriet ved \\u001b[31mHavnen\ttrue\t',
    ]);
    expect(terminal.text()).toContain('──');
    expect(JSON.parse(program.text())).toEqual(ROWS);
  });

  it('keeps control characters of a CRM from the terminal', () => {
    const terminal = printed(false, true);
    terminal.output.table(ROWS);
    expect(terminal.text()).not.toContain('\u001b[31mHavnen');
  });

  it('streams a line of JSON for each entry', () => {
    const { output, text } = printed(true, false);
    for (const n of [1, 2]) output.entry({ n, text: 'a\nb' }, `entry ${n}`);
    expect(
      text()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).n),
    ).toEqual([1, 2]);
  });

  it('masks the values of documents and tables, but not their keys and punctuation', () => {
    const write = (json: boolean, work: (output: Output) => void): string => {
      let text = '';
      const sink = maskedSink({ write: (more) => (text += more) });
      sink.mask(maskerOf(['state', 'true', '8080', 'a secret']));
      work(createOutput(sink, json));
      return text;
    };
    const rows = [{ state: 'the state is "a secret"', open: true, port: 8080, at: 18080 }];
    const masked = { state: 'the *** is "***"', open: true, port: '***', at: 18080 };
    expect(JSON.parse(write(true, (output) => output.table(rows)))).toEqual([masked]);
    expect(JSON.parse(write(true, (output) => output.result({ rows }, 'text')))).toEqual({ rows: [masked] });
    expect(JSON.parse(write(true, (output) => output.entry(rows[0], 'text')))).toEqual(masked);
    expect(write(false, (output) => output.table(rows))).toBe(
      'state\topen\tport\tat\nthe *** is "***"\ttrue\t***\t18080\n',
    );
    expect(write(false, (output) => output.result(rows, 'in a state'))).toBe('in a ***\n');
  });

  it('is masked once secrets are known', () => {
    let text = '';
    const sink = maskedSink({
      write: (more) => {
        text += more;
      },
    });
    sink.mask((given) => given.replaceAll('sesame', '***'));
    sink.write('open sesame');
    expect(text).toBe('open ***');
  });
});
