/** The operations that every installation has, even without the service. */
import type { TObject } from 'typebox';
import type { Operation } from '../definition/operation.ts';
import { testAlert } from './alert-test.ts';
import { applyConfig, type ConfigNeeds, diffConfig, listConfigVersions, rollbackConfig } from './configuration.ts';
import { type DigestNeeds, previewDigest } from './digest.ts';
import { allowOperator, createOperator, listOperators, revokeOperator } from './operators.ts';
import { cancelRun, confirmRun, listRuns, showRun } from './runs.ts';
import { readStatus, type StatusNeeds } from './status/status.ts';

export interface InstallationNeeds extends StatusNeeds, ConfigNeeds, DigestNeeds {}

export const INSTALLATION_OPERATIONS: readonly Operation<TObject, unknown, InstallationNeeds>[] = [
  readStatus,
  previewDigest,
  testAlert,
  diffConfig,
  applyConfig,
  listConfigVersions,
  rollbackConfig,
  createOperator,
  listOperators,
  revokeOperator,
  allowOperator,
  listRuns,
  showRun,
  confirmRun,
  cancelRun,
];
