/** The master data that make news, and their wording. */

import {
  addressText,
  capitalText,
  dateText,
  formText,
  industryText,
  monthText,
  numberText,
  yesText,
} from '../../../protocol/describe/danish.ts';
import type { EventData, EventName } from '../../../protocol/events.ts';
import type { Updates } from '../../../protocol/payload.ts';
import type { Phrase } from './phrase.ts';
import { named } from './relations.ts';

/** One changed value; null: none or unknown. */
export interface InformationLine {
  readonly label: string;
  readonly before: Phrase | null;
  readonly after: Phrase | null;
}

interface Words<E extends EventName> {
  /** In a list of several: "navn, adresse og telefonnummer". */
  readonly noun: string;
  /** The headline if nothing else changed. */
  readonly changed: string;
  /** The headline if the value was removed. */
  readonly gone?: string;
  /** Empty for a change that is not news. */
  readonly linesOf: (data: EventData<E>) => readonly InformationLine[];
}

interface Changed<T> {
  readonly before: T | null;
  readonly after: T | null;
}

const oneLine =
  <T>(label: string, textOf: (value: T) => string) =>
  ({ before, after }: Changed<T>): readonly InformationLine[] => {
    const phrase = (value: T | null): Phrase | null => {
      const text = value === null ? '' : textOf(value);
      return text.trim() === '' ? null : [text];
    };
    return [{ label, before: phrase(before), after: phrase(after) }];
  };

const same = (text: string): string => text;
const textLine = (label: string) => oneLine<string>(label, same);

const listLines =
  <T>(added: string, removed: string, textOf: (value: T) => string) =>
  (data: { readonly added: readonly T[]; readonly removed: readonly T[] }): readonly InformationLine[] => [
    ...data.added.map((value) => ({ label: added, before: null, after: [textOf(value)] })),
    ...data.removed.map((value) => ({ label: removed, before: null, after: [textOf(value)] })),
  ];

const unitLine =
  (label: string) =>
  ({ entity }: EventData<'pUnitAdded'>): readonly InformationLine[] => [
    { label, before: null, after: [named(entity)] },
  ];

/** The register's intervals. A monthly count within the same interval is not news, or nearly every month would be. */
const INTERVAL_STARTS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
const intervalOf = (count: number): number => INTERVAL_STARTS.findLastIndex((start) => start <= count);

const monthly = (data: EventData<'monthlyEmployeeCount'>): readonly InformationLine[] => {
  const { before, after, year, month } = data;
  if (before === null || after === null || intervalOf(before) === intervalOf(after)) return [];
  return [
    { label: `Antal ansatte, ${monthText(year, month)}`, before: [numberText(before)], after: [numberText(after)] },
  ];
};

const EMPLOYEES = {
  noun: 'antal ansatte',
  changed: 'Antallet af ansatte i [company] er ændret',
};

type InformationEvent =
  | 'name'
  | 'altNames'
  | 'address'
  | 'industry'
  | 'altIndustries'
  | 'purpose'
  | 'powerToBind'
  | 'bylawsChangedDate'
  | 'capital'
  | 'form'
  | 'email'
  | 'fax'
  | 'phoneNumber'
  | 'website'
  | 'pUnitAdded'
  | 'pUnitRemoved'
  | 'pUnitUpdated'
  | 'commercialProtection'
  | 'monthlyEmployeeCount'
  | 'quarterlyEmployees'
  | 'yearlyEmployees';

const INFORMATION: { readonly [E in InformationEvent]: Words<E> } = {
  name: {
    noun: 'navn',
    changed: '[company] har fået nyt navn',
    linesOf: textLine('Navn'),
  },
  altNames: {
    noun: 'binavne',
    changed: '[company] har ændret sine binavne',
    linesOf: listLines('Nyt binavn', 'Slettet binavn', same),
  },
  address: {
    noun: 'adresse',
    changed: '[company] har fået ny adresse',
    gone: '[company] har ikke længere en adresse i CVR',
    linesOf: oneLine('Adresse', addressText),
  },
  industry: {
    noun: 'branche',
    changed: '[company] har skiftet branche',
    gone: '[company] har ikke længere en branche i CVR',
    linesOf: oneLine('Branche', industryText),
  },
  altIndustries: {
    noun: 'bibrancher',
    changed: '[company] har ændret sine bibrancher',
    linesOf: listLines('Ny bibranche', 'Slettet bibranche', industryText),
  },
  purpose: {
    noun: 'formål',
    changed: '[company] har ændret sit formål',
    gone: '[company] har ikke længere et formål i CVR',
    linesOf: textLine('Formål'),
  },
  powerToBind: {
    noun: 'tegningsregel',
    changed: '[company] har ændret sin tegningsregel',
    gone: '[company] har ikke længere en tegningsregel i CVR',
    linesOf: textLine('Tegningsregel'),
  },
  bylawsChangedDate: {
    noun: 'vedtægter',
    changed: '[company] har ændret sine vedtægter',
    linesOf: oneLine('Vedtægter senest ændret', dateText),
  },
  capital: {
    noun: 'kapital',
    changed: '[company] har ændret sin kapital',
    gone: '[company] har ikke længere en kapital i CVR',
    linesOf: oneLine('Kapital', capitalText),
  },
  form: {
    noun: 'virksomhedsform',
    changed: '[company] har skiftet virksomhedsform',
    linesOf: oneLine('Virksomhedsform', formText),
  },
  email: {
    noun: 'e-mail',
    changed: '[company] har fået ny e-mail',
    gone: '[company] har ikke længere en e-mail i CVR',
    linesOf: textLine('E-mail'),
  },
  fax: {
    noun: 'faxnummer',
    changed: '[company] har fået nyt faxnummer',
    gone: '[company] har ikke længere et faxnummer i CVR',
    linesOf: textLine('Fax'),
  },
  phoneNumber: {
    noun: 'telefonnummer',
    changed: '[company] har fået nyt telefonnummer',
    gone: '[company] har ikke længere et telefonnummer i CVR',
    linesOf: textLine('Telefon'),
  },
  website: {
    noun: 'hjemmeside',
    changed: '[company] har fået ny hjemmeside',
    gone: '[company] har ikke længere en hjemmeside i CVR',
    linesOf: textLine('Hjemmeside'),
  },
  pUnitAdded: {
    noun: 'ny produktionsenhed',
    changed: '[company] har fået en ny produktionsenhed',
    linesOf: unitLine('Ny produktionsenhed'),
  },
  pUnitRemoved: {
    // Closed or taken over: the register does not say which.
    noun: 'udgået produktionsenhed',
    changed: '[company] har ikke længere en af sine produktionsenheder',
    linesOf: unitLine('Udgået produktionsenhed'),
  },
  pUnitUpdated: {
    noun: 'produktionsenhed',
    changed: 'Nye oplysninger om en produktionsenhed hos [company]',
    linesOf: unitLine('Ændret produktionsenhed'),
  },
  commercialProtection: {
    noun: 'reklamebeskyttelse',
    changed: '[company] har ændret sin reklamebeskyttelse',
    linesOf: oneLine('Reklamebeskyttet', yesText),
  },
  monthlyEmployeeCount: { ...EMPLOYEES, linesOf: monthly },
  quarterlyEmployees: {
    ...EMPLOYEES,
    linesOf: (data) => oneLine<string>(`Antal ansatte, ${data.quarter}. kvartal ${data.year}`, same)(data),
  },
  yearlyEmployees: {
    ...EMPLOYEES,
    linesOf: (data) => oneLine<string>(`Antal ansatte, ${data.year}`, same)(data),
  },
};

export interface WordedChange {
  readonly noun: string;
  readonly headline: string;
  readonly lines: readonly InformationLine[];
}

const isInformation = (event: string): event is InformationEvent => Object.hasOwn(INFORMATION, event);

/** The master data that changed, in the order of the table. */
export const wordingOf = (updates: Updates): readonly WordedChange[] =>
  Object.keys(INFORMATION)
    .filter(isInformation)
    .flatMap((event) => wordedChange(event, updates));

function wordedChange<E extends InformationEvent>(event: E, updates: Updates): readonly WordedChange[] {
  const data: EventData<E> | undefined = updates[event];
  const { noun, changed, gone, linesOf } = INFORMATION[event];
  const lines = data === undefined ? [] : linesOf(data);
  if (lines.length === 0) return [];
  const isGone = lines.every(({ after }) => after === null);
  return [{ noun, headline: isGone ? (gone ?? changed) : changed, lines }];
}
