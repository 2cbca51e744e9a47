/** A property that makes no sense is the provider's mistake: a value rendered by it would be a wrong one. */
import { describe, expect, it } from 'vitest';
import { fenced, live, raw } from '../sound-connection.ts';

const TITLE = { name: 'title', label: 'Title', type: 'string', writable: true };
const listing = (...properties: readonly unknown[]) => fenced({ properties: raw(properties) }).properties(live());

describe('a property', () => {
  it('keeps all its parts', async () => {
    const sector = { ...TITLE, name: 'sector', type: 'enumeration', options: [{ value: '', label: '' }], open: true };
    const staff = { ...TITLE, name: 'staff', type: 'number', scale: 0, unique: false, money: true, unreadable: true };
    const all = [{ ...TITLE, maxLength: 1 }, sector, staff];
    expect(await listing(...all)).toEqual(all);
  });

  it.each([
    ['maxLength', Number.NaN, 'the number NaN as maxLength: it is a whole number from 1'],
    ['maxLength', -1, 'the number -1 as maxLength'],
    ['maxLength', 0, 'the number 0 as maxLength'],
    ['maxLength', 7.5, 'the number 7.5 as maxLength'],
    [
      'maxLength',
      Number.POSITIVE_INFINITY,
      'the number Infinity as maxLength: it is a whole number from 1, and absent if',
    ],
    ['maxLength', '80', 'the text "80" as maxLength'],
    ['maxLength', null, 'null as maxLength'],
    ['scale', -3, 'the number -3 as scale: it is a whole number from 0 to 100'],
    ['scale', 101, 'the number 101 as scale'],
    ['scale', Number.NaN, 'the number NaN as scale'],
    ['type', 'text', 'the text "text" as type: it is one of string, multiline'],
    ['writable', 1, 'the number 1 as writable: it is true or false'],
    ['open', 'no', 'the text "no" as open: it is true, and absent if it is not so'],
    ['unique', 1, 'the number 1 as unique'],
    ['money', 'DKK', 'the text "DKK" as money'],
    ['unreadable', 'false', 'the text "false" as unreadable'],
    ['options', { a: 'A' }, 'an object as options: it is a list'],
    ['options', ['a'], 'the text "a" as options[0]: it is an object with a value and a label'],
    ['options', [{ value: 'a', label: 'A' }, { label: 'B' }], 'nothing as options[1].value: it is a text'],
    ['options', [{ value: 'a' }], 'nothing as options[0].label: it is a text'],
    ['options', Array.from({ length: 1 }), 'nothing as options[0]'],
  ])('with a %s of %s is named, with what is wrong', async (part, value, seen) => {
    await expect(listing(TITLE, { ...TITLE, name: 'odd', [part]: value })).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining(`crm: its properties gave the property odd with ${seen}`),
    });
  });

  it('that is listed twice is named, because either may be right', async () => {
    await expect(listing(TITLE, { ...TITLE, writable: false })).rejects.toThrow(
      'crm: its properties gave the text "title" as the name of two properties: each name is unique',
    );
  });

  it('without a name is reported', async () => {
    await expect(listing({ ...TITLE, name: '' })).rejects.toThrow(
      'crm: its properties gave a property with an empty text as name: it is a text of 255 characters at most',
    );
  });
});
