/** Random parts of a sample company. */
import { passesModulus11 } from '../cvr-number.ts';
import { companyEntityId } from '../entity-id.ts';
import type { Address, CompanyForm, Entity, Industry, Owner, Voter } from '../formats.ts';
import type { Random } from './random.ts';
import * as words from './words.ts';

/** A CVR number that passes the register's check, from 95000000 on: far above assigned numbers. */
export const sampleCvr = (random: Random): string => {
  for (let number = random.int(95_000_000, 99_990_000); ; number++) {
    if (passesModulus11(String(number))) return String(number);
  }
};

export const samplePerson = (random: Random): Entity => {
  const number = 4_999_000_000 + random.int(0, 999_999);
  return {
    entityId: `CVR-3-${number}`,
    name: `${random.pick(words.FIRST_NAMES)} ${random.pick(words.SURNAMES)}`,
    type: 'Person',
  };
};

export const sampleFirm = (random: Random, stem = random.pick(words.STEMS)): Entity => ({
  entityId: companyEntityId(sampleCvr(random)),
  name: `${stem} ${random.pick(words.TRADES)} ${random.int(2, 999)} ApS`,
  type: 'Company',
});

export const samplePlace = (random: Random, name: string, type: Entity['type'] = 'Place'): Entity => ({
  entityId: `CVR-2-${1_990_000_000 + random.int(0, 9_999_999)}`,
  name,
  type,
});

export const sampleOwner = (random: Random): Owner => ({
  ...(random.chance(0.5) ? samplePerson(random) : sampleFirm(random)),
  ownership: random.pick(words.SHARES),
});

export const sampleTrueOwner = (random: Random): Owner => ({
  ...samplePerson(random),
  ownership: `${random.int(26, 99)}.5`,
});

export const sampleVoter = (random: Random): Voter => ({
  ...samplePerson(random),
  voterights: `${random.int(26, 99)}.5`,
});

const since = (date: string) => ({ from: `${date}T00:00:00`, to: null, original: null, isNow: true });

export const sampleIndustry = (random: Random, date: string): Industry => {
  const [industryCode, industryText] = random.pick(words.INDUSTRIES);
  return { period: since(date), industryCode, industryText, lastUpdated: `${date}T03:10:00` };
};

export const sampleForm = (random: Random, date: string): CompanyForm => {
  const [companyFormCode, shortDescription, longDescription] = random.pick(words.FORMS);
  const provider = 'E&S';
  return {
    companyFormCode,
    shortDescription,
    longDescription,
    responsibleDataProvider: provider,
    period: since(date),
    lastUpdated: `${date}T03:10:00`,
  };
};

export const sampleAddress = (random: Random, date: string): Address => {
  const { postalCode, district, municipality, code } = random.pick(words.PLACES);
  const known = {
    period: since(date),
    original: null,
    lastUpdated: `${date}T03:10:00`,
    relatedEntityId: null,
    relatedUpdates: [],
  };
  return {
    countryCode: 'DK',
    freeText: null,
    roadCode: random.int(1, 9899),
    municipality: { name: municipality, code, ...known },
    houseNumberFrom: random.int(1, 199),
    houseNumberTo: null,
    houseLetterFrom: random.chance(0.2) ? random.pick(['A', 'B', 'C']) : null,
    houseLetterTo: null,
    floor: random.chance(0.4) ? random.pick(['st', '1', '2', '3']) : null,
    sideDoor: random.chance(0.3) ? random.pick(['th', 'tv', 'mf']) : null,
    coName: random.chance(0.1) ? `${random.pick(words.FIRST_NAMES)} ${random.pick(words.SURNAMES)}` : null,
    postalBox: null,
    streetName: random.pick(words.STREETS),
    cityName: null,
    postalCode,
    postalDistrict: district,
    ...known,
  };
};
