import { describe, expect, it } from 'vitest';
import { time } from '../../../src/commands/arguments/time.ts';
import { integer, oneOf, UsageError } from '../../../src/commands/cli/command.ts';

describe('an option', () => {
  it('accepts a time, in UTC without a zone', () => {
    const { read } = time('since when');
    expect(read('2026-03-01')).toBe(Date.UTC(2026, 2, 1));
    expect(read('2026-03-01T12:30')).toBe(Date.UTC(2026, 2, 1, 12, 30));
    expect(read('2026-03-01T12:30:00+01:00')).toBe(Date.UTC(2026, 2, 1, 11, 30));
    for (const text of ['yesterday', '03/01/2026', '2026-13-01', '']) expect(() => read(text)).toThrow(UsageError);
  });

  it('accepts a whole number, and no text that only begins with one', () => {
    const { read } = integer('how many');
    expect(read('25')).toBe(25);
    for (const text of ['2.5', '-1', '1e3', '12x', '']) expect(() => read(text)).toThrow(UsageError);
  });

  it('accepts one of its names and lists them', () => {
    const { read } = oneOf(['active', 'gone'], 'state');
    expect(read('gone')).toBe('gone');
    expect(() => read('lost')).toThrow('lost is not one of active, gone');
  });
});
