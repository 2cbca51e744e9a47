/** News for tests: changes of invented companies, and stored items. */
import type { Updates } from '../../../src/protocol/payload.ts';
import type { Change } from '../../../src/service/changes/change.ts';
import { type NewsItem, type NewsSettings, newsOf, PROMOTED_MS } from '../../../src/service/news/wording/make.ts';

export const SETTINGS: NewsSettings = {
  baseUrl: 'https://register.example',
  registryProvider: 'VIRK',
  pressProvider: 'PressAgency',
  gazetteProvider: 'Gazette',
};

export const COMPANY = 'CVR-1-10000001';
export const AT = '2026-03-02T09:10:11.000Z';

export const changeOf = (updates: Updates, more: Partial<Change> = {}): Change => ({
  id: 'change-1',
  entity: COMPANY,
  name: 'Prøvelund Møbler A/S',
  kind: 'register',
  timestamp: AT,
  updates,
  ...more,
});

/** The only item of a change. Throws if there are none or several. */
export function itemOf(updates: Updates, more: Partial<Change> = {}): NewsItem {
  const [item, ...others] = newsOf(changeOf(updates, more), SETTINGS);
  if (item === undefined || others.length > 0) throw new Error('not one item');
  return item;
}

export const person = (name: string, number = 4_000_000_001) => ({
  entityId: `CVR-3-${number}`,
  name,
  type: 'Person',
});
export const firm = (name: string, number = 20_000_001) => ({ entityId: `CVR-1-${number}`, name, type: 'Company' });

/** An item to be stored, about the given entities. */
export const storedItem = (
  id: string,
  time: number,
  entities: readonly string[],
  more: Partial<NewsItem> = {},
): NewsItem => ({
  id,
  time,
  promotedUntil: time + PROMOTED_MS,
  type: 'Information',
  headline: `Nyt ${id}`,
  tagLine: '',
  content: '<p></p>',
  provider: 'VIRK',
  providerData: null,
  url: 'https://register.example',
  imageId: null,
  storyId: id,
  entities: entities.map((entityId, at) => ({ entityId, name: `Navn ${entityId}`, isMainId: at === 0 })),
  ...more,
});
