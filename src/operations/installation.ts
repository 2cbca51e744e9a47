/** The operations that every installation has, also without the service. */
import type { TObject } from 'typebox';
import type { Operation } from './operation.ts';
import { readStatus, type StatusNeeds } from './status.ts';

/** What they need, together. */
export type InstallationNeeds = StatusNeeds;

export const INSTALLATION_OPERATIONS: readonly Operation<TObject, unknown, InstallationNeeds>[] = [readStatus];
