/** Control characters from a CRM, a payload or a file never reach the terminal raw, whichever command shows them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskedSink } from '../../src/commands/cli/context.ts';
import { escapeControls } from '../../src/commands/cli/table.ts';
import { main } from '../../src/main.ts';
import { park } from '../../src/runtime/lanes/lanes.ts';
import { ENTITY, OTHER, renamed } from '../faults/company.ts';
import { startFixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

/** Clears the screen, in two ways; rings; turns the order of letters; returns to the begin of the line. */
const EVIL = 'Ond\u001b[2J\u009b31m\u0007\u202e\rApS';
/** What the bar of a backfill moves the cursor by. */
const BAR = [
  '\u001b7',
  '\u001b8',
  '\u001b[?25l',
  '\u001b[?25h',
  '\u001b[?7l',
  '\u001b[?7h',
  '\u001b[0K',
  '\u001b[0G',
  '\u001b[1G',
];
/** What gives a word one of our own colours on a terminal (`src/commands/cli/style.ts`). */
const COLOURS = ['1', '2', '22', '31', '32', '33', '39'].map((code) => `\u001b[${code}m`);
const RAW = /[^\P{Cc}\n]|[\u202A-\u202E\u2066-\u2069]/u;

test('no command that shows text of a CRM prints its control characters to a terminal', async () => {
  const fixture = await startFixture({ connections: { hubspot: { match: { property: 'cvr_number' } } } });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: EVIL, cvr_number: ENTITY.slice(-8) });
  fixture.hubspot.add({ name: EVIL, cvr_number: EVIL });
  const other = await fixture.addLinked('hubspot', OTHER, { name: EVIL });
  await fixture.post(renamed('A ApS', `${EVIL} B`));
  await fixture.settled();
  const { store } = fixture.app;
  await store.write(async (tx) => {
    await park(tx, 'sync:hubspot', EVIL, { at: 1, error: EVIL });
    await tx.updateTable('link').set({ state: 'conflict', reason: EVIL }).where('record_id', '=', other).execute();
  });
  const payload = join(newFolder(), 'payload.json');
  writeFileSync(payload, JSON.stringify(renamed('A ApS', EVIL, 9)));
  const shown: string[] = [];
  /** What one command prints on a terminal or in a pipe, on both ways out. */
  const run = async (isTTY: boolean, argv: readonly string[]): Promise<void> => {
    let printed = '';
    const write = (text: string): void => {
      printed += text;
    };
    const sink = { isTTY, columns: 80, write };
    const world = { stdout: sink, stderr: sink, env: {}, signal: AbortSignal.timeout(60_000) };
    await main(['--config', fixture.configFile, ...argv], world);
    // The bar of a backfill moves the cursor by itself: what it says is another test's.
    const ours = isTTY ? [...BAR, ...COLOURS] : BAR;
    const text = ours.reduce((left, sequence) => left.replaceAll(sequence, ''), printed);
    expect(RAW.test(isTTY ? text : text.replaceAll('\t', '')), `${argv.join(' ')}: ${JSON.stringify(text)}`).toBe(
      false,
    );
    if (text.includes('Ond')) shown.push(argv[0] === '--json' ? `json ${argv[1]}` : (argv[0] ?? ''));
  };
  const commands = [
    ['review'],
    ['review', 'list', '--kind', 'difference'],
    ['explain', ENTITY],
    ['explain', `hubspot:${EVIL}`],
    ['links'],
    ['links', EVIL],
    ['backfill', 'hubspot', '--dry-run', '--restart'],
    ['reconcile', 'hubspot', '--dry-run'],
    ['transfer', 'hubspot', '10000009', '--name', EVIL],
    ['receive', payload, '--dry-run'],
    ['undo', '--entity', ENTITY, '--dry-run'],
    ['hold', `hubspot:${EVIL}`],
    ['release', `hubspot:${id}`, EVIL],
    ['monitoring', 'list'],
    ['check'],
    [EVIL],
  ];
  for (const argv of commands)
    for (const isTTY of [true, false]) {
      await run(isTTY, argv);
      if (!isTTY) await run(isTTY, ['--json', ...argv]);
    }
  // The test would prove nothing of a command that showed nothing of it. `release` refuses them, and does not repeat them.
  for (const name of ['review', 'json review', 'explain', 'links', 'transfer', 'receive', 'hold'])
    expect(shown).toContain(name);
});

test('all output passes a filter that makes control characters visible, and JSON remains JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      let printed = '';
      const write = (more: string): void => {
        printed += more;
      };
      const sink = maskedSink({ write });
      sink.write(JSON.stringify({ text }));
      expect(printed).not.toMatch(RAW);
      expect(JSON.parse(printed)).toEqual({ text });
      expect(escapeControls(text)).not.toMatch(/[^\P{Cc}\n\t]/u);
    }),
  );
});
