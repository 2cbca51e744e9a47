/** What `--help` prints: every command, in lines that fit a terminal of 80 columns. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Command } from '../../src/commands/cli/command.ts';
import { COMMANDS } from '../../src/commands/list.ts';
import { main } from '../../src/main.ts';
import { runCli } from '../support/cli.ts';

/** The words that name each command, its sub-commands included. */
const pathsOf = (command: Command, above: readonly string[] = []): readonly (readonly string[])[] => {
  const path = [...above, command.name];
  return [path, ...command.commands.flatMap((sub) => pathsOf(sub, path))];
};
const commands = await Promise.all(COMMANDS.map(async ({ load }) => (await load()).command));
const paths = [[], ...commands.flatMap((command) => pathsOf(command))];

async function helpOf(path: readonly string[], columns?: number): Promise<string> {
  let printed = '';
  const write = (text: string): void => {
    printed += text;
  };
  const sink = { write, ...(columns !== undefined && { columns }) };
  const world = { stdout: sink, stderr: sink, env: {}, signal: new AbortController().signal };
  expect(await main([...path, '--help'], world)).toBe(0);
  return printed;
}
const longest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

describe('help', () => {
  it('fits 80 columns for every command, even on a wider terminal', async () => {
    expect(paths.length).toBeGreaterThan(60);
    const wide: string[] = [];
    for (const path of paths)
      for (const columns of [undefined, 200]) if (longest(await helpOf(path, columns)) > 80) wide.push(path.join(' '));
    expect(wide).toEqual([]);
  });

  it('fits a narrower terminal', async () => {
    expect(longest(await helpOf(['monitors', 'create'], 70))).toBeLessThanOrEqual(70);
  });

  it('omits empty defaults', async () => {
    for (const path of paths)
      expect((await runCli([...path, '--help'])).stdout).not.toMatch(/default: (?:false|none|\[)/);
  });

  it('describes each command with a lower-case verb first and no full stop', () => {
    const told = (command: Command): readonly string[] => [command.about, ...command.commands.flatMap(told)];
    for (const about of [...COMMANDS.map(({ about }) => about), ...commands.flatMap(told)])
      expect(about).toMatch(/^[a-z]+[ ,].*[^.]$/s);
  });

  it('has valid examples for every command that runs', async () => {
    const leaves = (command: Command, above: readonly string[]): readonly (readonly [path: string, Command])[] => {
      const path = [...above, command.name];
      const own = command.run === undefined ? [] : [[path.join(' '), command] as const];
      return [...own, ...command.commands.flatMap((sub) => leaves(sub, path))];
    };
    const all = commands.flatMap((command) => leaves(command, []));
    expect(all.length).toBeGreaterThan(60);
    let ran = '';
    const restore = all.map(([path, command]) => {
      const { run, audit } = command;
      // Parsed as ever, and not run.
      const note = async (): Promise<void> => {
        ran = path;
      };
      Object.assign(command, { audit: undefined, run: note });
      return () => Object.assign(command, { run, audit });
    });
    onTestFinished(() => {
      for (const each of restore) each();
    });
    for (const [path, { examples }] of all) {
      expect(await helpOf(path.split(' '))).toContain('\nExamples:\n  cvrsync ');
      for (const line of examples) {
        ran = '';
        const words = [...(line.split(/ >>? /u)[0] ?? '').matchAll(/"([^"]*)"|\S+/gu)].map(
          ([word, inside]) => inside ?? word,
        );
        expect([line, (await runCli(words)).stderr, ran]).toEqual([line, '', path]);
      }
    }
  });
});
