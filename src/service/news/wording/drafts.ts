/** All makers of news, by type. */
import { account } from './account.ts';
import { article } from './article.ts';
import { companyLife, newCompany, status } from './company-life.ts';
import type { DraftOf } from './draft.ts';
import { information } from './information.ts';
import { ownership } from './ownership.ts';
import { relations } from './relations.ts';

/** Each makes at most one item of a change; no two make the same type for one change. */
export const DRAFTS: readonly DraftOf[] = [
  account,
  ...relations,
  ownership,
  information,
  newCompany,
  status,
  companyLife,
  article,
];
