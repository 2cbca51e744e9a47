/**
 * News items and their types (specification, "News item"), and the entity tokens in their texts. `headline` and
 * `tagLine` are plain text with tokens, `content` is HTML with tokens.
 */
import Type, { type Static } from 'typebox';
import { canonicalEntityId, parseEntityId } from './entity-id.ts';

/** Type name to id, in the specification's order. */
export const NEWS_TYPES = {
  Account: 26,
  Accountant: 33,
  Ownership: 27,
  Board: 28,
  Management: 29,
  Stakeholder: 41,
  Information: 30,
  NewCompany: 31,
  StatusChange: 32,
  Lifetime: 40,
  PressAgency: 34,
  Gazette: 400,
} as const;

export type NewsType = keyof typeof NEWS_TYPES;

const isNewsType = (text: string): text is NewsType => Object.hasOwn(NEWS_TYPES, text);

/** In the specification's order. */
export const NEWS_TYPE_NAMES: readonly NewsType[] = Object.keys(NEWS_TYPES).filter(isNewsType);

const BY_ID_OR_LOWER_NAME: ReadonlyMap<string, NewsType> = new Map(
  NEWS_TYPE_NAMES.flatMap((name): [string, NewsType][] => [
    [name.toLowerCase(), name],
    [String(NEWS_TYPES[name]), name],
  ]),
);

/** The type of an id, or of a name in any case. */
export const newsTypeNamed = (idOrName: string | number): NewsType | undefined =>
  BY_ID_OR_LOWER_NAME.get(String(idOrName).trim().toLowerCase());

const newsEntity = Type.Object(
  {
    relatedEntityIdName: Type.String({ description: 'Name of the related entity.' }),
    entityId: Type.String({ description: 'Entity id of the related entity, as CVR-1-12345678.' }),
    isMainId: Type.Boolean({ description: 'Whether it is the primary entity of the news.' }),
    inQuery: Type.Boolean({ description: 'Whether the entity was among the ids in the request.' }),
  },
  { description: 'An entity that a news item is about.' },
);

export const newsItem = Type.Object(
  {
    headline: Type.String({ description: 'Headline: plain text with entity tokens {name|entityId}.' }),
    content: Type.String({ description: 'Full text: HTML with entity tokens.' }),
    tagLine: Type.String({ description: 'One-line summary: plain text with entity tokens.' }),
    time: Type.String({ format: 'date-time', description: 'When it was published, UTC.' }),
    promotedUntil: Type.String({ format: 'date-time', description: 'When its promotion ends, UTC.' }),
    type: Type.String({ description: `News type: ${NEWS_TYPE_NAMES.join(', ')}.` }),
    provider: Type.String({ description: 'Data provider.' }),
    providerData: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
      description: 'Extra data of the provider: source and address of an article; null for news of the register.',
    }),
    url: Type.String({ description: 'Address of the article, or of the entity on the public site.' }),
    imageId: Type.Union([Type.String(), Type.Null()], {
      description: 'Identifier of an image; null if there is none.',
    }),
    storyId: Type.String({ description: 'Identifier of the story: the items made from one change share it.' }),
    uniqueId: Type.String({ description: 'Unique identifier of the item.' }),
    entityIds: Type.Array(newsEntity, { description: 'Related entities, the primary one first.' }),
  },
  { description: 'A news item.' },
);
export type NewsItemBody = Static<typeof newsItem>;

/** Replacements for characters that would end a token's name early. */
const STAND_INS: Readonly<Record<string, string>> = { '|': '¦', '{': '(', '}': ')' };

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** Replaces `{` and `}` by parentheses, so that text from others (a purpose, a press release) contains no token. */
export const withoutTokens = (text: string): string => text.replace(/[{}]/g, (found) => STAND_INS[found] ?? found);

/**
 * The token `{name|entityId}` of an entity. In the name `|` becomes `¦`, braces become parentheses, line breaks and
 * runs of blanks become one blank. An entity without a name gets its kind instead. Without a valid id only the name is
 * returned. In HTML, pass the name escaped.
 */
export const entityToken = (name: string, entityId: string): string => {
  const safe = oneLine(name.replace(/[|{}]/g, (found) => STAND_INS[found] ?? found));
  const id = canonicalEntityId(entityId);
  if (id === undefined) return safe;
  const isNamed = safe !== '' && canonicalEntityId(safe) !== id;
  return `{${isNamed ? safe : (NAMELESS[parseEntityId(id)?.kind ?? ''] ?? id)}|${id}}`;
};

/** Names for entities of unknown name, because an id means nothing to people. */
const NAMELESS: Readonly<Record<string, string>> = {
  company: 'en virksomhed',
  productionUnit: 'en produktionsenhed',
  person: 'en person',
};

/**
 * Replaces each token, except one without exactly two filled parts. Passes the parts unchanged: in HTML they are escaped.
 */
const replaceTokens = (text: string, replace: (name: string, entityId: string) => string): string =>
  text.replace(/\{([^{}]*)\}/g, (found, inside: string) => {
    const [name = '', entityId = '', ...more] = inside.split('|');
    return name.trim() === '' || entityId.trim() === '' || more.length > 0 ? found : replace(name, entityId);
  });

/** A headline, tag line or content with names instead of tokens. Content stays HTML. */
export const plainText = (text: string): string => replaceTokens(text, (name) => name);

/** Replaces the name of a person who may not be named. */
const SOMEBODY = 'en person';

/** Like {@link plainText}, but replaces the names of persons who may not be named. */
export const resolveTokens = (text: string, isNameless: (entityId: string) => boolean): string =>
  replaceTokens(text, (name, entityId) => {
    const id = entityId.trim();
    return isNameless(canonicalEntityId(id) ?? id) ? SOMEBODY : name.trim();
  });

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (found) => HTML[found] ?? found);
