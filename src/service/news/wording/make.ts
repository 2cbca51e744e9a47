/** News made from changes: which items a change gives, in plain Danish. Pure. */
import { createHash } from 'node:crypto';
import { canonicalEntityId, parseEntityId } from '../../../protocol/entity-id.ts';
import type { NewsType } from '../../../protocol/news.ts';
import { normaliseTime } from '../../../protocol/text/time.ts';
import { withoutSlash } from '../../../protocol/text/trim.ts';
import type { Change } from '../../changes/change.ts';
import type { NewsDraft } from './draft.ts';
import { DRAFTS } from './drafts.ts';
import { asText, contentOf, isWebAddress, namedIn, phrasesIn } from './phrase.ts';

export interface NewsSettings {
  /** Public site that items link to, without a slash at the end. */
  readonly baseUrl: string;
  readonly registryProvider: string;
  /** Provider of articles that are not the gazette's. */
  readonly pressProvider: string;
  /** Also the `source` by which a `newArticle` is known as the gazette's; any other source is press. */
  readonly gazetteProvider: string;
}

/** A news item as it is stored. */
export interface NewsItem {
  /** The unique id: the same change gives the same. */
  readonly id: string;
  /** Ms since 1970. */
  readonly time: number;
  readonly promotedUntil: number;
  readonly type: NewsType;
  /** Plain text with tokens. */
  readonly headline: string;
  readonly tagLine: string;
  /** HTML with tokens. */
  readonly content: string;
  readonly provider: string;
  readonly providerData: Readonly<Record<string, unknown>> | null;
  readonly url: string;
  readonly imageId: string | null;
  readonly storyId: string;
  /** Canonical ids, each once; the company it is about comes first and is the main one. */
  readonly entities: readonly { readonly entityId: string; readonly name: string; readonly isMainId: boolean }[];
}

/** An item is promoted this long, in ms. */
export const PROMOTED_MS = 7 * 24 * 60 * 60 * 1_000;

/**
 * The news of a change, one item for each type it touches. A change of a person makes none (the company's change tells
 * of both), nor do whole states and what a monitor's list does.
 */
export function newsOf(change: Change, settings: NewsSettings): readonly NewsItem[] {
  if (change.kind === 'state' || change.kind === 'monitor') return [];
  if (parseEntityId(change.entity)?.kind !== 'company') return [];
  return DRAFTS.flatMap((draftOf) => {
    const draft = draftOf(change, settings);
    return draft === undefined ? [] : [itemOf(change, draft, settings)];
  });
}

function itemOf(change: Change, draft: NewsDraft, settings: NewsSettings): NewsItem {
  const { type, headline, tagLine, content } = draft;
  const time = Date.parse(normaliseTime(draft.time ?? '') ?? change.timestamp);
  const link = draft.link ?? '';
  return {
    id: idOf(change.id, type),
    time,
    promotedUntil: time + PROMOTED_MS,
    type,
    headline: asText(headline),
    tagLine: asText(tagLine),
    content: contentOf(content),
    provider: draft.provider ?? settings.registryProvider,
    providerData: draft.providerData ?? null,
    url: isWebAddress(link) ? link : entityUrl(settings.baseUrl, change.entity),
    imageId: null,
    storyId: idOf(change.id, ''),
    entities: entitiesOf(change, draft),
  };
}

const idOf = (...parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('base64url');

function entitiesOf(change: Change, draft: NewsDraft): NewsItem['entities'] {
  const main = { entityId: change.entity, name: change.name, isMainId: true };
  const related = namedIn([draft.headline, draft.tagLine, ...phrasesIn(draft.content)]).flatMap(
    ({ entityId, name }) => {
      const canonical = canonicalEntityId(entityId);
      const isNew = canonical !== undefined && canonical !== change.entity;
      return isNew ? [{ entityId: canonical, name, isMainId: false }] : [];
    },
  );
  const seen = new Map(related.map((entity) => [entity.entityId, entity]));
  return [main, ...seen.values()];
}

/** The page of an entity on the public site, as the register's own has it (https://datacvr.virk.dk). */
export function entityUrl(baseUrl: string, entityId: string): string {
  const base = withoutSlash(baseUrl);
  const { kind, number } = parseEntityId(entityId) ?? { kind: 'other', number: '' };
  if (kind === 'company') return `${base}/enhed/virksomhed/${number}`;
  if (kind === 'productionUnit') return `${base}/enhed/produktionsenhed/${number}`;
  return kind === 'person' ? `${base}/enhed/person/${number}/deltager` : base;
}
