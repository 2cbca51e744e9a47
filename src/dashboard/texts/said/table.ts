/** The table of sentences that are said in English elsewhere, with the Danish of each. */
import { CALLS_SAID } from './calls.ts';
import { CONDITIONS_SAID } from './conditions.ts';
import { FILES_SAID } from './files.ts';
import { OTHERS_SAID } from './others.ts';
import { REVIEW_SAID } from './review.ts';
import type { Said } from './sentence.ts';

export const SAID: readonly Said[] = [...CONDITIONS_SAID, ...REVIEW_SAID, ...CALLS_SAID, ...FILES_SAID, ...OTHERS_SAID];
