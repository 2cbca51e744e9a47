/**
 * Takes entities out of JSON that is about others: a payload, a snapshot, a document of the register, facts, news. An alias
 * stands where the id stood, so that lists keep their length; of the object that stands for the entity, name and address go.
 * In prose a sign stands for its number and its name, unless the JSON gives that name to another person by an id.
 */
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { isJsonObject, type JsonObject } from '../../protocol/text/json.ts';
import type { NameFinder } from './name-finder.ts';

/** What stands in place of an erased name. */
export const ERASED = '(erased)';

type AliasOf = (entity: string) => string | undefined;

/** Keys of the register's documents that hold a number, and the entities it may mean. */
const NUMBERS: Readonly<Record<string, string>> = {
  enhedsNummer: 'CVR-3-',
  forretningsnoegle: 'CVR-1-',
  cvrNummer: 'CVR-1-',
  pNummer: 'CVR-2-',
};
const NAME = /^(?:name|navn)$/i;
/** Keys of the names that a company bears itself: a part of one that is called as the entity is stays. */
const OWN_NAMES = /^(?:names?|navne?|altNames|otherNames|formerNames)$/i;
const CONTACT = /adress|address|e-?mail|post|phone|telefon|fax|website|hjemmeside|^url$/i;
/** How news name an entity within a text. */
const TOKEN = /\{[^{}|]*\|([^{}|]+)\}/g;

/** What is erased, as it is found. */
export interface ErasedWords {
  aliasOf: AliasOf;
  readonly finder: NameFinder;
}

export interface RedactOptions {
  /** Whether names are taken out of prose; true if absent. */
  readonly names?: boolean;
}

/** A copy of the value without the entities that are erased; what is about others stays as it is. */
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

/** Whether a value gives an erased name to another person by an id. */
export function namesAnother(value: unknown, { aliasOf, finder }: ErasedWords): boolean {
  const isOther = (entity: string): boolean => entity.startsWith('CVR-3-') && aliasOf(entity) === undefined;
  return namesIn(value, isOther).some((name) => finder.without(name, '', { names: true }).trim() === '');
}

/** The names that JSON gives to the entities of these ids. */
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

/** Texts that stand under a name. */
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

/** The alias of the entity that an object stands for. */
function aliasIn(object: JsonObject, aliasOf: AliasOf): string | undefined {
  for (const [key, value] of Object.entries(object)) {
    const alias =
      typeof value === 'number' || typeof value === 'string' ? aliasOf(idAt(key, String(value))) : undefined;
    if (alias !== undefined) return alias;
  }
  return undefined;
}

/** The id that a property may hold; of no entity if it holds none. */
const idAt = (key: string, text: string): string =>
  Object.hasOwn(NUMBERS, key) ? `${NUMBERS[key]}${text}` : (canonicalEntityId(text) ?? '');

/** What is left of a property of the object that stands for an erased entity. */
function withoutPerson(key: string, value: unknown, alias: string): unknown {
  if (key === 'enhedsNummer') return Number(alias.slice('CVR-3-'.length));
  if (NUMBERS[key] !== undefined || CONTACT.test(key)) return null;
  if (NAME.test(key)) return value === null ? null : ERASED;
  if (Array.isArray(value)) return value.map((each) => withoutPerson('', each, alias));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutPerson(name, each, alias)]));
}
