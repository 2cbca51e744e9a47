/** The page on data protection names every table of the store. */
import { expect, it } from 'vitest';
import { PLACES } from '../../../src/commands/erase/places.ts';
import { readDoc, tableIn } from '../../support/docs.ts';

it('the page on data protection describes exactly the tables of the store', () => {
  const rows = tableIn(readDoc('docs/data-protection.md'), 'Table', 'What of companies and persons');
  const named = rows.flatMap(({ Table = '' }) => [...Table.matchAll(/`(\w+)`/gu)].map(([, name]) => name));
  expect(named.toSorted()).toEqual(Object.keys(PLACES).toSorted());
});
