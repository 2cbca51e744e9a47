/** The table of sentences that are said in English elsewhere, with the Danish of each. */
import { CALLS_SAID } from './calls.ts';
import { CHECK_CONNECTOR_SAID } from './check-connector.ts';
import { CHECK_MAPPING_SAID } from './check-mapping.ts';
import { CHECK_SERVICE_SAID } from './check-service.ts';
import { CONDITIONS_SAID } from './conditions.ts';
import { FILES_SAID } from './files.ts';
import { MONITORS_SAID } from './monitors.ts';
import { OTHERS_SAID } from './others.ts';
import { REVIEW_SAID } from './review.ts';
import type { Said } from './sentence.ts';
import { UNDO_SAID } from './undo.ts';

export const SAID: readonly Said[] = [
  ...CONDITIONS_SAID,
  ...REVIEW_SAID,
  ...CALLS_SAID,
  ...FILES_SAID,
  ...CHECK_CONNECTOR_SAID,
  ...CHECK_MAPPING_SAID,
  ...CHECK_SERVICE_SAID,
  ...UNDO_SAID,
  ...MONITORS_SAID,
  ...OTHERS_SAID,
];
