/** Tables fit the terminal: shared width, cells wrap, ids and advice are never cut; a pipe gets a line a row. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOutput } from '../../../src/commands/cli/output.ts';
import { escapeControls, renderTable, type TableRow, toTsv } from '../../../src/commands/cli/table.ts';

const WIDTH = 80;
const words = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => word !== '');
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => [...line].length));

const CHECK: TableRow[] = [
  { level: 'ok', subject: 'configuration', found: '/etc/cvrsync/cvrsync.yaml' },
  {
    level: 'warn',
    subject: 'hubspot name → nmae',
    found: 'the CRM has no property nmae, so that no name of a company is ever written to it',
    advice: 'create it, or set fields: { name: false } in the configuration of this connection',
  },
];
const REVIEW: TableRow[] = [
  {
    id: 'value/hubspot/8412345678/cvr_industry_code_of_the_main_activity',
    about: 'hubspot:8412345678 cvr_industry_code = "62.01.00"',
    since: '2026-11-22 17:12:33Z',
    reason: 'the option 62.01.00 is none of the property; "61.10.00" stays in the CRM',
    advice: 'correct the property or the mapping, then retry; drop hides it until it is set aside again',
  },
];

describe('tables fit the terminal', () => {
  it('shares the width of check, and wraps its cells between words', () => {
    const text = renderTable(CHECK, WIDTH);
    expect(widest(text)).toBeLessThanOrEqual(WIDTH);
    expect(text.split('\n').slice(0, 4)).toEqual([
      'level  subject              found                      advice',
      '─────  ───────────────────  ─────────────────────────  ─────────────────────────',
      'ok     configuration        /etc/cvrsync/cvrsync.yaml',
      'warn   hubspot name → nmae  the CRM has no property    create it, or set fields:',
    ]);
  });

  it('shows the review list at 80 columns as blocks, with the complete id and advice', () => {
    const text = renderTable(REVIEW, WIDTH);
    expect(widest(text)).toBeLessThanOrEqual(WIDTH);
    expect(text.split('\n')).toEqual([
      'value/hubspot/8412345678/cvr_industry_code_of_the_main_activity',
      '  about   hubspot:8412345678 cvr_industry_code = "62.01.00"',
      '  since   2026-11-22 17:12:33Z',
      '  reason  the option 62.01.00 is none of the property; "61.10.00" stays in the',
      '          CRM',
      '  advice  correct the property or the mapping, then retry; drop hides it until',
      '          it is set aside again',
    ]);
  });

  it('titles a row by its level and subject if an address is too long for a column', () => {
    const found = `https://sync.example.com/${'a'.repeat(60)} answers`;
    expect(renderTable([{ level: 'ok', subject: 'webhook', found }], WIDTH).split('\n')[0]).toBe('ok  webhook');
  });

  it('cuts no word at any width', () => {
    const rows = fc.array(fc.record({ id: fc.string(), about: fc.lorem(), advice: fc.lorem({ maxCount: 40 }) }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(rows, fc.integer({ min: 20, max: 300 }), (some, width) => {
        const text = renderTable(some, width);
        for (const row of some)
          for (const value of Object.values(row))
            for (const word of words(escapeControls(value))) expect(text).toContain(word);
      }),
    );
  });

  it('is printed on a terminal, and as tabs to a pipe', () => {
    const printed = (isTTY?: true): string => {
      let text = '';
      const write = (more: string): void => {
        text += more;
      };
      createOutput({ write, ...(isTTY && { isTTY, columns: 40 }) }, false).table([{ id: 'a', text: 'one two' }]);
      return text;
    };
    expect(printed()).toBe('id\ttext\na\tone two\n');
    expect(printed(true)).not.toContain('\t');
  });

  it('prints one uncut line for each row to a pipe, with tabs between the cells', () => {
    const long = 'x'.repeat(5_000);
    expect(toTsv([{ id: 'a', text: `one\ttwo\nthree ${long}` }, { id: 'b' }])).toBe(
      `id\ttext\na\tone two three ${long}\nb\t`,
    );
  });
});
