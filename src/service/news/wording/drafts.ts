/** All that makes news, by type. */
import { account } from './account.ts';
import { article } from './article.ts';
import { companyLife, newCompany, status } from './company-life.ts';
import type { DraftOf } from './draft.ts';
import { information } from './information.ts';
import { ownership } from './ownership.ts';
import { relations } from './relations.ts';

/** Each looks at a change and gives one item or none; no two give the same type for one change. */
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
