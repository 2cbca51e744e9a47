/** The weight and the words of each piece of evidence: the one table of the match. */

/** Only the strongest evidence of each group counts. */
export type EvidenceGroup = 'name' | 'address' | 'phone' | 'domain' | 'number' | 'uniqueness' | 'life' | 'answers';

export interface SignWeight {
  readonly group: EvidenceGroup;
  /** Orders the evidence of a group and, summed, the candidates of a record; not the score (probability.ts). */
  readonly points: number;
  /** Two strong pieces of different groups make a match certain. */
  readonly isStrong: boolean;
  /** `{what}` is the value in the register, `{when}` the year in which it ended. */
  readonly en: string;
  readonly da: string;
}

const evidence = (
  group: EvidenceGroup,
  points: number,
  isStrong: boolean,
  words: readonly [en: string, da: string],
): SignWeight => ({
  group,
  points,
  isStrong,
  en: words[0],
  da: words[1],
});

export const EVIDENCE = {
  'name-same': evidence('name', 45, true, ['same name', 'samme navn']),
  'name-but-form': evidence('name', 43, true, [
    'name equal but for the form',
    'navnet er ens bortset fra selskabsformen',
  ]),
  'other-name-same': evidence('name', 40, true, ['secondary name {what} is the same', 'binavnet {what} er det samme']),
  'unit-name-same': evidence('name', 40, true, [
    'production unit {what} has the name',
    'produktionsenheden {what} har navnet',
  ]),
  'name-but-town': evidence('name', 36, false, ['name equal but for the town', 'navnet er ens bortset fra byen']),
  'name-spelling': evidence('name', 33, false, ['name spelled nearly the same', 'navnet er stavet næsten ens']),
  'name-swapped': evidence('name', 36, false, ['same words in another order', 'samme ord i en anden rækkefølge']),
  'name-shortened': evidence('name', 35, false, ['the name is shortened', 'navnet er forkortet']),
  'name-but-addition': evidence('name', 33, false, [
    'name equal but for an addition',
    'navnet er ens bortset fra en tilføjelse',
  ]),
  'former-name-same': evidence('name', 35, false, ['was called {what} until {when}', 'hed {what} indtil {when}']),
  'former-name-of-group': evidence('name', 17, false, [
    'was called {what} until {when}, and is now named as a company of its group',
    'hed {what} indtil {when}, og hedder nu som et selskab i koncernen',
  ]),
  'name-but-country': evidence('name', 30, false, ['name equal but for Danmark', 'navnet er ens bortset fra Danmark']),
  'name-other-form': evidence('name', 24, false, [
    'name equal, but another form',
    'navnet er ens, men en anden selskabsform',
  ]),
  'name-part': evidence('name', 16, false, ['one name is part of the other', 'det ene navn er en del af det andet']),
  'name-without-group': evidence('name', 16, false, [
    'its name has a word such as Holding more',
    'dens navn har et ord som Holding mere',
  ]),
  'name-of-sister': evidence('name', 14, false, [
    'the name is that of a sister, with a word such as Holding',
    'navnet er en søsters, med et ord som Holding',
  ]),
  'name-other-word': evidence('name', 12, false, [
    'a letter makes the name another one',
    'et bogstav gør navnet til et andet',
  ]),
  'name-initials': evidence('name', 16, false, [
    'one name has the initials of the other',
    'det ene navn er det andets forbogstaver',
  ]),
  'name-of-domain': evidence('name', 16, false, ['its domain {what} is the name', 'dens domæne {what} er navnet']),
  'name-owner': evidence('name', 24, false, ['the name is its owner’s', 'navnet er ejerens']),
  'name-other-owner': evidence('name', 12, false, ['same name, but another owner', 'samme navn, men en anden ejer']),
  'name-short-with-form': evidence('name', 22, false, [
    'same name and form, of few letters',
    'samme navn og selskabsform, på få bogstaver',
  ]),
  'name-short': evidence('name', 15, false, ['same name, of few letters', 'samme navn, på få bogstaver']),
  'address-same': evidence('address', 30, true, ['same address', 'samme adresse']),
  'unit-address-same': evidence('address', 29, true, [
    'a production unit has the address',
    'en produktionsenhed har adressen',
  ]),
  'address-spelling': evidence('address', 24, false, [
    'address spelled nearly the same',
    'adressen er stavet næsten ens',
  ]),
  'former-address-same': evidence('address', 24, false, ['moved from {what} in {when}', 'flyttet fra {what} i {when}']),
  'address-other-code': evidence('address', 16, false, [
    'same street and number, another postal code',
    'samme gade og nummer, et andet postnummer',
  ]),
  'street-same': evidence('address', 14, false, ['same street', 'samme gade']),
  'address-crowded': evidence('address', 14, false, [
    'same address, as many companies',
    'samme adresse som mange andre virksomheder',
  ]),
  'postal-code-same': evidence('address', 8, false, ['same postal code', 'samme postnummer']),
  'street-other': evidence('address', 4, false, [
    'another street of the same postal code',
    'en anden gade i samme postnummer',
  ]),
  'city-same': evidence('address', 5, false, ['same town', 'samme by']),
  'address-elsewhere': evidence('address', -6, false, ['another town', 'en anden by']),
  'chain-elsewhere': evidence('address', -10, false, [
    'another town, where none of its production units is',
    'en anden by, hvor den ikke har en produktionsenhed',
  ]),
  'address-abroad': evidence('address', -12, false, ['the town is in another country', 'byen er i et andet land']),
  'phone-same': evidence('phone', 35, true, ['same phone', 'samme telefonnummer']),
  'phone-shared': evidence('phone', 10, false, [
    'same phone, as several companies',
    'samme telefonnummer som flere virksomheder',
  ]),
  'phone-other': evidence('phone', -4, false, ['another phone', 'et andet telefonnummer']),
  'phone-abroad': evidence('phone', -8, false, [
    'the phone is of another country',
    'telefonnummeret er fra et andet land',
  ]),
  'domain-own': evidence('domain', 50, true, ['its own domain {what}', 'dens eget domæne {what}']),
  'domain-of-group': evidence('domain', 35, true, ['the domain {what} of its group', 'koncernens domæne {what}']),
  'domain-same': evidence('domain', 35, true, ['same domain {what}', 'samme domæne {what}']),
  'domain-spells-name': evidence('domain', 14, false, ['the domain {what} is the name', 'domænet {what} er navnet']),
  'domain-shared': evidence('domain', 10, false, [
    'same domain {what}, as several companies',
    'samme domæne {what} som flere virksomheder',
  ]),
  'domain-other': evidence('domain', -6, false, ['another domain', 'et andet domæne']),
  'domain-abroad': evidence('domain', -10, false, [
    'the domain {what} is of another country',
    'domænet {what} er fra et andet land',
  ]),
  'unit-number-same': evidence('number', 60, true, [
    'the number is of its production unit',
    'nummeret er dens produktionsenheds',
  ]),
  'number-nearly': evidence('number', 50, true, [
    'its number is nearly the record’s',
    'dens nummer er næsten det, der står i posten',
  ]),
  'number-in-name': evidence('number', 30, true, ['its number stands in the name', 'dens nummer står i navnet']),
  'name-unique': evidence('uniqueness', 10, false, [
    'no other company has the name',
    'ingen anden virksomhed har navnet',
  ]),
  'name-unique-in-part': evidence('uniqueness', 10, false, [
    'no other company of the index has the name, but the index is partial',
    'ingen anden virksomhed i indekset har navnet, men indekset er ikke helt',
  ]),
  answers: evidence('answers', 0, false, [
    'of your answers to matches like this one {what} were accepted',
    'af dine svar på sådanne forslag blev {what} godtaget',
  ]),
  ended: evidence('life', -10, false, ['ended in {when}', 'ophørt i {when}']),
} as const satisfies Readonly<Record<string, SignWeight>>;

export type Evidence = keyof typeof EVIDENCE;

/** Evidence for one candidate, with the values in its words. */
export interface EvidenceFinding {
  readonly evidence: Evidence;
  readonly what?: string;
  readonly when?: string | null;
}

/** A phone or domain of more companies says little. */
export const SHARED_BY = 5;
/** An address of this many companies says little: an office hotel has hundreds. */
export const SHARED_ADDRESS_FROM = 12;

export function reasonText({ evidence: name, what, when }: EvidenceFinding, language: 'en' | 'da'): string {
  const unknown = language === 'en' ? 'an unknown year' : 'et ukendt år';
  return EVIDENCE[name][language]
    .replace('{what}', () => what ?? '')
    .replace('{when}', () => when?.slice(0, 4) ?? unknown);
}
