/** A backfill's patience with its CRM: it runs for hours, alone. */
import { patiently as keepAsking } from '../../crm/patience.ts';
import type { BackfillDeps } from './backfill-context.ts';

/** How long a backfill goes on without an answer of its CRM. */
export const LONGEST_SILENCE_MS = 30 * 60_000;

/** Makes a call again until it is answered; throws after half an hour of silence. */
export const patiently = <T>(deps: BackfillDeps, call: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  keepAsking({ ...deps, silenceMs: LONGEST_SILENCE_MS }, call, signal);
