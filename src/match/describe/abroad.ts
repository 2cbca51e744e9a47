/** Signs of another country in a record: town, postal code, phone or domain. */
import { foldLetters } from '../../protocol/danish/letters.ts';

/** Towns of the neighbouring countries whose names no Danish town has. */
const TOWNS: ReadonlySet<string> = new Set(
  foldLetters(`Oslo Bergen Trondheim Stavanger Kristiansand Drammen Fredrikstad Tromsø Sandnes Stockholm Göteborg Gothenburg Malmö
  Malmø Helsingborg Uppsala Västerås Örebro Linköping Norrköping Jönköping Halmstad Landskrona Kristianstad Karlstad Gävle
  Borås Växjö Hamburg Flensburg Flensborg Kiel Lübeck Berlin Bremen Hannover München Munich Frankfurt Köln Düsseldorf Stuttgart
  Leipzig Dresden Rostock Husum Schleswig London Manchester Birmingham Dublin Amsterdam Rotterdam Utrecht Bruxelles Brussels
  Paris Helsinki Helsingfors Tampere Turku Reykjavik Tallinn Riga Vilnius Warszawa Warsaw Gdansk Szczecin Zürich Wien`)
    .trim()
    .split(/\s+/u),
);

/** Five digits, or a code after a country's letters. */
const POSTAL_CODE = /^(?:(?:se?|no?|de?|fi|nl|gb|uk|pl)[\s-]+\d{4,5}|\d{5}|\d{3} \d{2})(?:\D|$)/iu;
const DOMAIN = /\.(?:se|no|fi|de|nl|uk|pl|is|fo)$/u;
/** Includes Greenland and the Faroe Islands. */
const DANISH_PHONE = /^\+(?:45|298|299)/u;

export function isAbroad({
  postalCode,
  city,
}: Readonly<Partial<Record<'postalCode' | 'city', string | null | undefined>>>): boolean {
  const [first = '', second = ''] = foldLetters((city ?? '').slice(0, 100)).match(/\p{L}{2,}/gu) ?? [];
  return POSTAL_CODE.test((postalCode ?? '').trim()) || TOWNS.has(first) || (first.length < 3 && TOWNS.has(second));
}

export const isDomainAbroad = (domain: string): boolean => DOMAIN.test(domain);

/** `phone` in E.164. */
export const isPhoneAbroad = (phone: string): boolean => !DANISH_PHONE.test(phone);
