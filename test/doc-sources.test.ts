/** Holds the table of what each source carries to the code. */
import { expect, it } from 'vitest';
import { ALL_FAMILIES } from '../src/service/register/document/families.ts';
import { DATAFORDELER_FAMILIES } from '../src/service/register/source/datafordeler/families.ts';
import { createFileSource } from '../src/service/register/source/file.ts';
import { readDoc } from './support/docs.ts';

it('the table of the sources has every family, and says what the code says', () => {
  const rows = [...readDoc('docs/datafordeler.md').matchAll(/^\| (\w+) \| (yes|no) \| (yes|no) \| (.+) \|$/gm)];
  const { families } = createFileSource('nowhere');
  const said = (isCovered: boolean): string => (isCovered ? 'yes' : 'no');
  expect(rows.map(([, family, cvr, datafordeler]) => [family, cvr, datafordeler])).toEqual(
    ALL_FAMILIES.map((family) => [
      family,
      said(families.includes(family)),
      said(DATAFORDELER_FAMILIES.includes(family)),
    ]),
  );
});
