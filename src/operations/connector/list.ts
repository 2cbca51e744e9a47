import type { TObject } from 'typebox';
import type { Operation } from '../definition/operation.ts';
import { endHolds, listHolds } from './holds.ts';
import { requestLeave, returnTo } from './leaving.ts';
import { addLink, type LinkNeeds, removeLink, updateAll } from './links.ts';
import { clearRecord, holdRecord, releaseProperty } from './records.ts';
import * as review from './review.ts';
import { matchRecords, previewApply, requestAnswers, requestUndo, scanCrm } from './run-requests.ts';

export const CONNECTOR_OPERATIONS: readonly Operation<TObject, unknown, LinkNeeds>[] = [
  requestUndo,
  requestAnswers,
  scanCrm,
  matchRecords,
  previewApply,
  requestLeave,
  returnTo,
  review.retryEntry,
  review.dropEntry,
  review.acceptEntry,
  review.keepEntry,
  review.takeAnswerBack,
  review.importAnswers,
  review.rejectMatched,
  holdRecord,
  releaseProperty,
  clearRecord,
  listHolds,
  endHolds,
  addLink,
  removeLink,
  updateAll,
];
