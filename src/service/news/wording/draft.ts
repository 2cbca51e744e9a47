import type { NewsType } from '../../../protocol/news.ts';
import type { Change } from '../../changes/change.ts';
import type { ArticleBlock, Phrase } from './phrase.ts';

export interface NewsDraft {
  readonly type: NewsType;
  readonly headline: Phrase;
  readonly tagLine: Phrase;
  readonly content: readonly ArticleBlock[];
  readonly provider?: string;
  readonly providerData?: Readonly<Record<string, unknown>>;
  readonly time?: string | null;
  /** An article's own address; the entity's page by default. */
  readonly link?: string | null;
}

export interface Providers {
  readonly pressProvider: string;
  readonly gazetteProvider: string;
}

/** Words the news of one type for a change; undefined if the change is no news of that type. */
export type DraftOf = (change: Change, providers: Providers) => NewsDraft | undefined;

export const subject = (change: Change): Phrase => [{ entityId: change.entity, name: change.name }];
