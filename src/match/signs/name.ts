/** The sign of the name: how alike two names are. */
import type { CompanyName } from '../../protocol/danish/company-name.ts';
import type { DescribedEntry, DescribedName } from '../described.ts';
import type { Sign, SignFinding } from '../weights.ts';
import { isWithin } from './distance.ts';

/** What a name of the entry says of the record's; undefined where they are not alike. */
export function nameFindings(record: CompanyName, { names, entry }: DescribedEntry): readonly SignFinding[] {
  if (record.compact === '') return [];
  return names.flatMap((name): readonly SignFinding[] => {
    const grade = gradeOf(record, name.read, entry.form);
    const found = grade === undefined ? undefined : signOf(grade, name);
    return found === undefined ? [] : [{ sign: found, what: name.text, when: name.until }];
  });
}

type Grade = 'same' | 'but-form' | 'other-form' | 'but-country' | 'spelling' | 'part' | 'short';

function signOf(grade: Grade, { kind }: DescribedName): Sign | undefined {
  if (kind === 'main') return `name-${grade}`;
  const isSame = grade === 'same' || grade === 'but-form';
  if (kind === 'former') return isSame ? 'former-name-same' : undefined;
  if (isSame) return kind === 'other' ? 'other-name-same' : 'unit-name-same';
  return `name-${grade}`;
}

/** Names of so few letters are many companies' initials. */
const FEW = 2;

function gradeOf(record: CompanyName, other: CompanyName, form: string | null): Grade | undefined {
  if (record.compact === other.compact) return sameGrade(record, other, form);
  if (numbersOf(record) !== numbersOf(other)) return undefined;
  if (isWithin(record.compact, other.compact, slips(Math.min(record.compact.length, other.compact.length))))
    return conflicts(record.form, other.form) ? 'part' : 'spelling';
  return isPart(record.words, other.words) || isPart(other.words, record.words) ? 'part' : undefined;
}

function sameGrade(record: CompanyName, other: CompanyName, form: string | null): Grade {
  if (record.compact.length <= FEW) return 'short';
  const known = other.form ?? (form === null ? null : plainForm(form));
  if (conflicts(record.form, known)) return 'other-form';
  if (record.saysDenmark !== other.saysDenmark) return 'but-country';
  return record.form === known ? 'same' : 'but-form';
}

const plainForm = (form: string): string => form.toLowerCase().replaceAll(/[^\p{L}]/gu, '');

/** An IVS became an ApS by law, so that these two are one. */
const group = (form: string): string => (form === 'ivs' ? 'aps' : form);
const conflicts = (a: string | null, b: string | null): boolean => a !== null && b !== null && group(a) !== group(b);

/** Numbers and single letters in a name tell companies apart: Byg 2 is not Byg 3, and Byg II is not Byg III. */
const TELLING = /\d|^\p{L}$|^[ivx]{1,4}$/u;
const numbersOf = ({ words }: CompanyName): string => words.filter((word) => TELLING.test(word)).join(' ');

/** How many letters may differ, by length. */
const slips = (length: number): number => (length < 6 ? 0 : length < 12 ? 1 : length < 20 ? 2 : 3);

/** Whether all words of one stand in the other, with one that is more than a word or two of the trade. */
const isPart = (words: readonly string[], all: readonly string[]): boolean =>
  words.length < all.length && words.some((word) => word.length > 3) && words.every((word) => all.includes(word));
