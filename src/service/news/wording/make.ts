/** Makes news items from changes, in plain Danish. Pure. */
import { createHash } from 'node:crypto';
import { canonicalEntityId, parseEntityId } from '../../../protocol/entity-id.ts';
import type { NewsType } from '../../../protocol/news.ts';
import { normaliseTime } from '../../../protocol/text/time.ts';
import { withoutSlash } from '../../../protocol/text/trim.ts';
import type { Change } from '../../changes/change.ts';
import { account } from './account.ts';
import { article } from './article.ts';
import { companyLife, newCompany, status } from './company-life.ts';
import type { DraftOf, NewsDraft } from './draft.ts';
import { information } from './information.ts';
import { ownership } from './ownership.ts';
import { asText, contentOf, isWebAddress, namedIn, phrasesIn } from './phrase.ts';
import { relations } from './relations.ts';

export interface NewsSettings {
  /** The public site that items link to, without a slash at the end. */
  readonly baseUrl: string;
  readonly registryProvider: string;
  /** The provider of articles that are not the gazette's. */
  readonly pressProvider: string;
  /** Also the `source` of a `newArticle` from the gazette; articles of any other source are press. */
  readonly gazetteProvider: string;
}

export interface NewsItem {
  /** The same change gives the same id. */
  readonly id: string;
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
  /** Distinct canonical ids; the main company comes first. */
  readonly entities: readonly { readonly entityId: string; readonly name: string; readonly isMainId: boolean }[];
}

/** Each makes at most one item of a change, and no two make the same type. */
const DRAFTS: readonly DraftOf[] = [
  account,
  ...relations,
  ownership,
  information,
  newCompany,
  status,
  companyLife,
  article,
];

export const PROMOTED_MS = 7 * 24 * 60 * 60 * 1_000;

/**
 * The news of a change, one item for each type. None for changes of persons (the company's change covers both), full
 * states, and changes of a monitor's list.
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

/** The page of an entity on the public site, in the scheme of https://datacvr.virk.dk. */
export function entityUrl(baseUrl: string, entityId: string): string {
  const base = withoutSlash(baseUrl);
  const { kind, number } = parseEntityId(entityId) ?? { kind: 'other', number: '' };
  if (kind === 'company') return `${base}/enhed/virksomhed/${number}`;
  if (kind === 'productionUnit') return `${base}/enhed/produktionsenhed/${number}`;
  return kind === 'person' ? `${base}/enhed/person/${number}/deltager` : base;
}
