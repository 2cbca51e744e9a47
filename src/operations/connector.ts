/** The operations on the connector half. */
import type { TObject } from 'typebox';
import type { Operation } from './operation.ts';
import { type ConnectorNeeds, previewApply, requestAnswers, requestUndo, scanCrm } from './run-requests.ts';
import { cancelRun, confirmRun, listRuns, showRun } from './runs.ts';

export const CONNECTOR_OPERATIONS: readonly Operation<TObject, unknown, ConnectorNeeds>[] = [
  requestUndo,
  requestAnswers,
  scanCrm,
  previewApply,
  listRuns,
  showRun,
  confirmRun,
  cancelRun,
];
