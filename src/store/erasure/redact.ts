/**
 * Removes erased entities from JSON about others: payloads, snapshots, register documents, facts, news. An alias
 * replaces the id, so that lists keep their length; the object of the entity loses name and address. In prose a
 * placeholder replaces number and name, unless the JSON gives the name to another person by id.
 */
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { isJsonObject, type JsonObject } from '../../protocol/text/json.ts';
import type { NameFinder } from './name-finder.ts';

/** The placeholder for an erased name. */
export const ERASED = '(erased)';

type AliasOf = (entity: string) => string | undefined;

/** Keys of register documents that hold a number, with the prefix of its entity id. */
const NUMBERS: Readonly<Record<string, string>> = {
  enhedsNummer: 'CVR-3-',
  forretningsnoegle: 'CVR-1-',
  cvrNummer: 'CVR-1-',
  pNummer: 'CVR-2-',
};
const NAME = /^(?:name|navn)$/i;
/** Keys of a company's own names, which are kept even if they contain an erased name. */
const OWN_NAMES = /^(?:names?|navne?|altNames|otherNames|formerNames)$/i;
const CONTACT = /adress|address|e-?mail|post|phone|telefon|fax|website|hjemmeside|^url$/i;
/** How news mark an entity in a text. */
const TOKEN = /\{[^{}|]*\|([^{}|]+)\}/g;

/** The erased ids and names. */
export interface ErasedWords {
  aliasOf: AliasOf;
  readonly finder: NameFinder;
}

export interface RedactOptions {
  /** Whether to replace names in prose; default true. */
  readonly names?: boolean;
}

/** A copy of the value without the erased entities; data about others stays. */
export function redact<T>(value: T, words: ErasedWords, options?: RedactOptions): T;
export function redact(value: unknown, words: ErasedWords, { names = true }: RedactOptions = {}): unknown {
  return redactIn(value, words, names && !namesAnother(value, words));
}

function redactIn(value: unknown, words: ErasedWords, names: boolean): unknown {
  if (typeof value === 'string') return redactText(value, words, names);
  if (Array.isArray(value)) return value.map((each) => redactIn(each, words, names));
  if (!isJsonObject(value)) return value;
  const alias = aliasIn(value, words.aliasOf);
  const entries = Object.entries(value).map(([key, each]) => [
    words.aliasOf(canonicalEntityId(key) ?? '') ?? key,
    redactIn(
      alias === undefined ? each : withoutPerson(key, each, alias),
      words,
      names && !(alias === undefined && OWN_NAMES.test(key)),
    ),
  ]);
  return Object.fromEntries(entries);
}

/** Whether a value gives an erased name to another person, by id. */
export function namesAnother(value: unknown, { aliasOf, finder }: ErasedWords): boolean {
  const isOther = (entity: string): boolean => entity.startsWith('CVR-3-') && aliasOf(entity) === undefined;
  return namesIn(value, isOther).some((name) => finder.without(name, '', { names: true }).trim() === '');
}

/** The names that JSON gives to these entities. */
export function namesIn(value: unknown, isWanted: (entity: string) => boolean): readonly string[] {
  if (typeof value === 'string')
    return [...value.matchAll(TOKEN)].flatMap(([token, id = '']) =>
      isWanted(canonicalEntityId(id) ?? '') ? [token.slice(1, token.indexOf('|'))] : [],
    );
  if (Array.isArray(value)) return value.flatMap((each) => namesIn(each, isWanted));
  if (!isJsonObject(value)) return [];
  const inside = Object.values(value).flatMap((each) => namesIn(each, isWanted));
  if (aliasIn(value, (entity) => (isWanted(entity) ? entity : undefined)) === undefined) return inside;
  return [...inside, ...textsUnder(value, false)];
}

/** The texts under keys of names. */
function textsUnder(value: unknown, isName: boolean): readonly string[] {
  if (typeof value === 'string') return isName ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => textsUnder(each, isName));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => textsUnder(each, NAME.test(key)));
}

function redactText(text: string, { aliasOf, finder }: ErasedWords, names: boolean): string {
  const alias = text.length > 128 ? undefined : aliasOf(canonicalEntityId(text) ?? '');
  if (alias !== undefined) return alias;
  const left = text.replaceAll(TOKEN, (token, id: string) => {
    const alias = aliasOf(canonicalEntityId(id) ?? '');
    return alias === undefined ? token : `{${ERASED}|${alias}}`;
  });
  return finder.without(left, ERASED, { names });
}

/** The alias of the entity that an object describes. */
function aliasIn(object: JsonObject, aliasOf: AliasOf): string | undefined {
  for (const [key, value] of Object.entries(object)) {
    const alias =
      typeof value === 'number' || typeof value === 'string' ? aliasOf(idAt(key, String(value))) : undefined;
    if (alias !== undefined) return alias;
  }
  return undefined;
}

/** The entity id in a property; empty if the property holds none. */
const idAt = (key: string, text: string): string =>
  Object.hasOwn(NUMBERS, key) ? `${NUMBERS[key]}${text}` : (canonicalEntityId(text) ?? '');

/** A property of an erased entity, without its numbers, contacts and names. */
function withoutPerson(key: string, value: unknown, alias: string): unknown {
  if (key === 'enhedsNummer') return Number(alias.slice('CVR-3-'.length));
  if (NUMBERS[key] !== undefined || CONTACT.test(key)) return null;
  if (NAME.test(key)) return value === null ? null : ERASED;
  if (Array.isArray(value)) return value.map((each) => withoutPerson('', each, alias));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutPerson(name, each, alias)]));
}
