/** What a record holds of another country: its town, its postal code, its phone or its domain. */
import { foldLetters } from '../../protocol/danish/letters.ts';

/** Towns that companies near Denmark have, without those of which Denmark has one, too. */
const TOWNS: ReadonlySet<string> = new Set(
  foldLetters(`Oslo Bergen Trondheim Stavanger Kristiansand Drammen Fredrikstad Tromsø Sandnes Stockholm Göteborg Gothenburg Malmö
  Malmø Helsingborg Uppsala Västerås Örebro Linköping Norrköping Jönköping Halmstad Landskrona Kristianstad Karlstad Gävle
  Borås Växjö Hamburg Flensburg Flensborg Kiel Lübeck Berlin Bremen Hannover München Munich Frankfurt Köln Düsseldorf Stuttgart
  Leipzig Dresden Rostock Husum Schleswig London Manchester Birmingham Dublin Amsterdam Rotterdam Utrecht Bruxelles Brussels
  Paris Helsinki Helsingfors Tampere Turku Reykjavik Tallinn Riga Vilnius Warszawa Warsaw Gdansk Szczecin Zürich Wien`)
    .trim()
    .split(/\s+/u),
);

/** Codes of five digits, or with a country before them. */
const POSTAL_CODE = /^(?:(?:se?|no?|de?|fi|nl|gb|uk|pl)[\s-]+\d{4,5}|\d{5}|\d{3} \d{2})(?:\D|$)/iu;
const DOMAIN = /\.(?:se|no|fi|de|nl|uk|pl|is|fo)$/u;
/** Greenland's and the Faroe Islands' numbers are no other country's. */
const DANISH_PHONE = /^\+(?:45|298|299)/u;

/** Whether the address of a record is in another country. */
export function isAbroad({
  postalCode,
  city,
}: Readonly<Partial<Record<'postalCode' | 'city', string | null | undefined>>>): boolean {
  const [first = '', second = ''] = foldLetters((city ?? '').slice(0, 100)).match(/\p{L}{2,}/gu) ?? [];
  return POSTAL_CODE.test((postalCode ?? '').trim()) || TOWNS.has(first) || (first.length < 3 && TOWNS.has(second));
}

/** Whether a domain is of a country around Denmark. */
export const isDomainAbroad = (domain: string): boolean => DOMAIN.test(domain);

/** Whether a phone number (E.164) is of another country. */
export const isPhoneAbroad = (phone: string): boolean => !DANISH_PHONE.test(phone);
