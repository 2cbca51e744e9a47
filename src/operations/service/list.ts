import type { TObject } from 'typebox';
import type { Operation } from '../definition/operation.ts';
import * as deliveries from './deliveries.ts';
import { addItem, listItems, removeItem } from './items.ts';
import { createJob, listJobs, moveJob, removeJob } from './jobs.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { type TestNeeds, testMonitor } from './monitor-test.ts';
import * as monitors from './monitors.ts';

export type ServiceNeeds = TestNeeds;

export const SERVICE_OPERATIONS: readonly Operation<TObject, unknown, ServiceNeeds>[] = [
  monitors.createMonitor,
  monitors.listMonitors,
  monitors.getMonitor,
  monitors.updateMonitor,
  monitors.removeMonitor,
  monitors.activateMonitor,
  monitors.disableMonitor,
  monitors.rotateSecret,
  monitors.resumeMonitorMail,
  listItems,
  addItem,
  removeItem,
  testMonitor,
  createJob,
  listJobs,
  moveJob,
  removeJob,
  createKey,
  listKeys,
  revokeKey,
  deliveries.listDeliveries,
  deliveries.countDeliveries,
  deliveries.listAttempts,
  deliveries.requestReplay,
  deliveries.dropDeliveries,
  deliveries.sendDelivery,
];
