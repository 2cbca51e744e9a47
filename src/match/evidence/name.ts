/** Evidence from the name. */
import type { CompanyName } from '../../protocol/danish/company-name.ts';
import { hasOtherLetters } from '../../protocol/danish/letters.ts';
import type { DescribedEntry, DescribedName, DescribedRecord } from '../describe/described.ts';
import { labelOf } from '../describe/keys.ts';
import { isOfGroup, type NameReading } from '../describe/record-names.ts';
import { isShortened, isSpelledNearly, isSwapped, namesAnother } from './spelling.ts';
import type { Evidence, EvidenceFinding } from './weights.ts';

/** Shorter domain names are common words. */
const BRAND = 4;

export function nameFindings(
  { text, name: whole, readings, address }: DescribedRecord,
  { names, addresses, domains, entry }: DescribedEntry,
): readonly EvidenceFinding[] {
  if (whole.compact === '') return [];
  const towns = addresses.flatMap(({ kind, read }) => (kind === 'former' ? [] : (read.city ?? [])));
  const what = domains.find((domain) => whole.compact.length >= BRAND && labelOf(domain) === whole.compact);
  const brand: readonly EvidenceFinding[] = what === undefined ? [] : [{ evidence: 'name-of-domain', what }];
  return names.flatMap((name): readonly EvidenceFinding[] => {
    const found = [
      gradeOf(whole, name.read, { form: entry.form, town: address.city, towns }),
      ...readings.map(({ kind, read }) =>
        readingGrade(namesOwner(whole, name.read) ? 'owned' : kind, sameGrade(read, name.read, entry.form)),
      ),
    ];
    const graded = found.flatMap((grade): readonly EvidenceFinding[] => {
      const evidence =
        grade === undefined ? undefined : evidenceOf(withLetters(grade, text, name.text), name, names[0]);
      return evidence === undefined ? [] : [{ evidence, what: name.text, when: name.until }];
    });
    return [...graded, ...brand];
  });
}

type Grade =
  | 'same'
  | 'but-form'
  | 'but-town'
  | 'but-addition'
  | 'but-country'
  | 'other-form'
  | 'spelling'
  | 'other-word'
  | 'shortened'
  | 'swapped'
  | 'part'
  | 'of-sister'
  | 'without-group'
  | 'initials'
  | 'other-owner'
  | 'owner'
  | 'short-with-form'
  | 'short';

function evidenceOf(
  grade: Grade,
  { kind, read }: DescribedName,
  current: DescribedName | undefined,
): Evidence | undefined {
  if (kind === 'main') return `name-${grade}`;
  const isSame = grade === 'same' || grade === 'but-form';
  if (kind === 'former' && isSame)
    return isOfGroup(current?.read.words ?? [], read.words) ? 'former-name-of-group' : 'former-name-same';
  if (kind === 'former') return undefined;
  if (isSame) return kind === 'other' ? 'other-name-same' : 'unit-name-same';
  return `name-${grade}`;
}

/** What else the comparison of names needs. */
interface Beside {
  readonly form: string | null;
  readonly town: string | null;
  readonly towns: readonly string[];
}

function gradeOf(record: CompanyName, other: CompanyName, { form, town, towns }: Beside): Grade | undefined {
  const same = sameGrade(record, other, form);
  if (same !== undefined) return same;
  if (other.owner !== null && record.words.join(' ') === other.owner) return 'owner';
  const alike = likeness(record, other, town, towns);
  if (alike !== undefined) return conflicts(record.form, other.form) ? 'part' : alike;
  if (isInitials(record, other) || isInitials(other, record)) return 'initials';
  if (numbersOf(record) !== numbersOf(other)) return undefined;
  if (!isPart(record.words, other.words) && !isPart(other.words, record.words)) return undefined;
  if (isOfGroup(record.words, other.words)) return 'of-sister';
  return isOfGroup(other.words, record.words) ? 'without-group' : 'part';
}

function likeness(
  record: CompanyName,
  other: CompanyName,
  town: string | null,
  towns: readonly string[],
): Grade | undefined {
  if (withoutTown(record, towns) === other.compact) return 'but-town';
  if (town !== null && withoutTown(other, [town]) === record.compact) return 'but-town';
  if (isShortened(record, other)) return 'shortened';
  if (numbersOf(record) !== numbersOf(other)) return undefined;
  if (isSwapped(record, other)) return 'swapped';
  if (!isSpelledNearly(record, other)) return undefined;
  return namesAnother(record, other) ? 'other-word' : 'spelling';
}

/** The register spells Danish letters right, so a `Bådcenter` is not a `Badcenter`. */
const withLetters = (grade: Grade, text: string, name: string): Grade =>
  (grade === 'same' || grade === 'but-form') && hasOtherLetters(text, name) ? 'spelling' : grade;

/** Whether the name states the owner of the other: `Ole Hansen - Salon Sol` and `Salon Sol v/ Ole Hansen`. */
const namesOwner = ({ words }: CompanyName, { owner }: CompanyName): boolean =>
  owner?.split(' ').every((word) => words.includes(word)) ?? false;

const readingGrade = (kind: NameReading['kind'] | 'owned', grade: Grade | undefined): Grade | undefined => {
  if (kind !== 'bare' && kind !== 'filled') return grade;
  if (grade !== 'same' && grade !== 'but-form') return undefined;
  return kind === 'bare' ? 'but-addition' : 'spelling';
};

/** Names this short are the initials of many companies. */
const FEW = 2;

/** Grades names with the same letters; undefined for other names. */
function sameGrade(record: CompanyName, other: CompanyName, form: string | null): Grade | undefined {
  if (record.compact !== other.compact) return undefined;
  if (record.compact.length <= FEW)
    return record.form !== null && record.form === knownForm(other, form) ? 'short-with-form' : 'short';
  if (isOtherOwner(record.owner, other.owner)) return 'other-owner';
  const known = knownForm(other, form);
  if (conflicts(record.form, known)) return 'other-form';
  if (record.saysDenmark !== other.saysDenmark) return 'but-country';
  if (record.owner !== null && record.owner === other.owner) return 'same';
  return record.form === known ? 'same' : 'but-form';
}

const knownForm = (name: CompanyName, form: string | null): string | null =>
  name.form ?? (form === null ? null : plainForm(form));

const plainForm = (form: string): string => form.toLowerCase().replaceAll(/[^\p{L}]/gu, '');

/** The law turned every IVS into an ApS. */
const group = (form: string): string => (form === 'ivs' ? 'aps' : form);
const conflicts = (a: string | null, b: string | null): boolean => a !== null && b !== null && group(a) !== group(b);

/** `O. Hansen` may be Ole Hansen, `P. Hansen` is not. */
function isOtherOwner(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a.includes(b) || b.includes(a)) return false;
  return a.charAt(0) !== b.charAt(0) || a.split(' ').at(-1) !== b.split(' ').at(-1);
}

/** Numbers and single letters distinguish companies: Byg 2 and Byg 3, Byg II and Byg III. */
const TELLING = /\d|^\p{L}$|^[ivx]{1,4}$/u;
const numbersOf = ({ words }: CompanyName): string => words.filter((word) => TELLING.test(word)).join(' ');

/** A shorter rest without the town may be only a trade. */
const LEFT = 5;

/** The name without one of these towns and its district letters at the end. */
function withoutTown({ words }: CompanyName, towns: readonly string[]): string | undefined {
  const isTown = (at: number): boolean => towns.includes(words.at(at) ?? '');
  const cut = isTown(-1) ? 1 : (words.at(-1) ?? '').length <= 2 && isTown(-2) ? 2 : 0;
  const left = cut === 0 ? '' : words.slice(0, -cut).join('');
  return left.length < LEFT ? undefined : left;
}

/** Fewer letters are common initials. */
const INITIALS = 3;

const isInitials = ({ words, compact }: CompanyName, long: CompanyName): boolean =>
  words.length === 1 &&
  compact.length >= INITIALS &&
  compact.length === long.words.length &&
  long.words.every((word, at) => word.startsWith(compact.charAt(at)));

/** Whether one name contains all words of the other, of which one is more than a common word. */
const isPart = (words: readonly string[], all: readonly string[]): boolean =>
  words.length < all.length && words.some((word) => word.length > 3) && words.every((word) => all.includes(word));
