import { expect, test } from 'vitest';
import { changesOf } from '../../../src/service/register/diff/diff.ts';
import { companyOf, type Json, name, OPTIONS, person, relation, role, TODAY } from './documents.ts';

const BOARD = role('LEDELSESORGAN', 'Bestyrelse', 'BESTYRELSESMEDLEM');

const spelled = (form: 'NFC' | 'NFD'): Json => ({
  navne: [name('Åben Ærø Café ApS'.normalize(form))],
  binavne: [name('Smørrebrød på Århus Å ApS'.normalize(form))],
  deltagerRelation: [relation(person(4_999_000_004, 'Åse Pådæk'.normalize(form)), BOARD)],
});

test('a text with composed or decomposed letters is the same text', () => {
  const [together, apart] = [companyOf(spelled('NFC'), TODAY), companyOf(spelled('NFD'), TODAY)];
  expect(changesOf(together, apart, OPTIONS)).toEqual([]);
  expect(changesOf(apart, together, OPTIONS)).toEqual([]);
  expect(apart.name).toBe('Åben Ærø Café ApS'.normalize('NFC'));
});
