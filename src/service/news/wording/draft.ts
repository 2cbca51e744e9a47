/** What the parts that word news hand over. */
import type { NewsType } from '../../../protocol/news.ts';
import type { Change } from '../../changes/change.ts';
import type { ArticleBlock, Phrase } from './phrase.ts';

/** News in words. */
export interface NewsDraft {
  readonly type: NewsType;
  readonly headline: Phrase;
  readonly tagLine: Phrase;
  readonly content: readonly ArticleBlock[];
  /** The register's provider where absent. */
  readonly provider?: string;
  readonly providerData?: Readonly<Record<string, unknown>>;
  /** The change's where absent. */
  readonly time?: string | null;
  /** An article of its own; the entity's page where absent. */
  readonly link?: string | null;
}

/** Names that a configuration gives to sources. */
export interface Providers {
  readonly pressProvider: string;
  readonly gazetteProvider: string;
}

/** Words the news of one type in a change; undefined where it has none. */
export type DraftOf = (change: Change, providers: Providers) => NewsDraft | undefined;

/** The company a change is about. */
export const subject = (change: Change): Phrase => [{ entityId: change.entity, name: change.name }];
