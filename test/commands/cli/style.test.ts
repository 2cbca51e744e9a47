/** Colours: only where a terminal takes them, and never the only sign. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { maskedSink } from '../../../src/commands/cli/context.ts';
import { createOutput } from '../../../src/commands/cli/output.ts';
import { hasColours, toned } from '../../../src/commands/cli/style.ts';

const TTY = { isTTY: true };

describe('colours', () => {
  test.each([
    ['on a terminal', TTY, {}, true],
    ['not in a pipe', {}, {}, false],
    ['not with NO_COLOR', TTY, { NO_COLOR: '1' }, false],
    ['though NO_COLOR is empty', TTY, { NO_COLOR: '' }, true],
    ['not on a dumb terminal', TTY, { TERM: 'dumb' }, false],
    ['in a pipe with FORCE_COLOR', {}, { FORCE_COLOR: '1' }, true],
    ['with FORCE_COLOR against NO_COLOR', TTY, { FORCE_COLOR: '', NO_COLOR: '1' }, true],
    ['not with FORCE_COLOR=0', TTY, { FORCE_COLOR: '0' }, false],
  ])('%s', (_name, sink, env, expected) => {
    expect(hasColours(sink, env)).toBe(expected);
  });

  const print = (json: boolean, colours: boolean) => {
    let text = '';
    const write = (more: string): void => {
      text += more;
    };
    const sink = maskedSink({ isTTY: true, columns: 80, write });
    sink.mask((given) => given.replaceAll('sesame', '***'));
    const output = createOutput(sink, json, colours);
    output.line('it ', toned('bad', 'failed sesame'), ' \u001b[31mred');
    output.table([{ level: 'fail', found: 'fail \u001b[2J sesame' }]);
    return text;
  };

  test('only repeat the words, mask secrets, and keep control characters of foreign text from the terminal', () => {
    const [plain, coloured] = [print(false, false), print(false, true)];
    expect(stripVTControlCharacters(coloured)).toBe(plain);
    expect(coloured).toContain('\u001b[31mfailed ***\u001b[39m');
    expect(coloured).toContain('\u001b[31mfail ');
    expect(coloured).not.toContain('sesame');
    expect(coloured).not.toContain('\u001b[31mred');
    expect(coloured).not.toContain('\u001b[2J');
    expect(plain).not.toContain('\u001b');
  });

  test('are absent from JSON', () => {
    expect(print(true, true)).not.toContain('\u001b');
  });
});
