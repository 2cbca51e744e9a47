/** News of a company's master data: name, address, contact, industry, capital, rules, size, production units. */
import { type DraftOf, subject } from './draft.ts';
import { type InformationLine, wordingOf } from './information-lines.ts';
import { fill, type Phrase, shortList } from './phrase.ts';

/** The kinds of data that a headline names; it counts others. */
const NAMED = 3;
const LONGEST = 120;

export const information: DraftOf = (change) => {
  const found = wordingOf(change.updates);
  const [first] = found;
  if (first === undefined) return undefined;
  const company = subject(change);
  const nouns = found.map(({ noun }): Phrase => [noun]);
  const lines = found.flatMap((part) => part.lines);
  const headline =
    found.length === 1
      ? fill(first.headline, { company })
      : fill('Nye oplysninger om [company]: [nouns]', { company, nouns: shortList(nouns, NAMED, 'andre oplysninger') });
  return {
    type: 'Information',
    headline,
    tagLine: lines.slice(0, NAMED).flatMap((line, at): Phrase => [at === 0 ? '' : '; ', ...lineOf(line, LONGEST)]),
    content: [
      { kind: 'paragraph', text: [...headline, '.'] },
      { kind: 'list', title: undefined, lines: lines.map((line) => lineOf(line, Number.POSITIVE_INFINITY)) },
    ],
  };
};

/** "Telefonnummer: 12345678 → 87654321". */
function lineOf({ label, before, after }: InformationLine, longest: number): Phrase {
  const was = before === null ? [] : cut(before, longest);
  const is = after === null ? ['ikke længere oplyst'] : cut(after, longest);
  return [`${label}: `, ...was, before === null ? '' : ' → ', ...is];
}

const cut = (phrase: Phrase, longest: number): Phrase =>
  phrase.map((part) => {
    if (typeof part !== 'string' || part.length <= longest) return part;
    return `${part
      .slice(0, longest)
      .toWellFormed()
      .replace(/\s\S*$/, '')
      .trimEnd()} …`;
  });
