/**
 * Takes entities out of JSON that is about others: a payload, a snapshot, a document of the register, facts, news. An alias
 * stands where the id stood, so that lists keep their length; of the object that stands for the entity, name and address go.
 */
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { isJsonObject, type JsonObject } from '../../protocol/text/json.ts';

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
const CONTACT = /adress|address|e-?mail|post|phone|telefon|fax|website|hjemmeside|^url$/i;
/** How news name an entity within a text. */
const TOKEN = /\{[^{}|]*\|([^{}|]+)\}/g;

/** A copy of the value without the entities that have an alias; what is about others stays as it is. */
export function redact<T>(value: T, aliasOf: AliasOf): T;
export function redact(value: unknown, aliasOf: AliasOf): unknown {
  if (typeof value === 'string') return redactText(value, aliasOf);
  if (Array.isArray(value)) return value.map((each) => redact(each, aliasOf));
  if (!isJsonObject(value)) return value;
  const alias = aliasIn(value, aliasOf);
  const entries = Object.entries(value).map(([key, each]) => [
    aliasOf(canonicalEntityId(key) ?? '') ?? key,
    redact(alias === undefined ? each : withoutPerson(key, each, alias), aliasOf),
  ]);
  return Object.fromEntries(entries);
}

/** The names that JSON gives to the entities of these ids. */
export function namesIn(value: unknown, isWanted: (entity: string) => boolean): readonly string[] {
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

function redactText(text: string, aliasOf: AliasOf): string {
  const alias = text.length > 128 ? undefined : aliasOf(canonicalEntityId(text) ?? '');
  if (alias !== undefined) return alias;
  return text.replaceAll(TOKEN, (token, id: string) => {
    const alias = aliasOf(canonicalEntityId(id) ?? '');
    return alias === undefined ? token : `{${ERASED}|${alias}}`;
  });
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

/** The id that a property may hold; of no entity where it holds none. */
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
