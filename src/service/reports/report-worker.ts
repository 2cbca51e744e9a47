/** Watches the filing index (queue `watch`, key `reports`). */
import { backoff } from '../../runtime/backoff.ts';
import { type Claim, settle } from '../../runtime/lanes/lanes.ts';
import { SourceError } from '../register/source/source.ts';
import { pollReports, type ReportsDeps } from './poll.ts';

export const REPORTS_KEY = 'reports';

/**
 * Polls once and settles the claim: for the next poll, or for a retry if the index cannot be read. Retries every
 * quarter of an hour, without limit.
 */
export async function runReports(deps: ReportsDeps, claim: Claim, signal: AbortSignal): Promise<void> {
  const { store, now, log, settings } = deps;
  try {
    await pollReports(deps, signal, [claim]);
    const at = now() + settings.pollSeconds * 1_000;
    await store.write((tx) => settle(tx, claim, { kind: 'again', at, fresh: true }));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const wait = Math.max(error.retryAfterMs ?? 0, backoff(claim.attempts + 1));
    log.warn({ err: error, inMs: wait }, 'the filing index cannot be read: trying again');
    await store.write((tx) => settle(tx, claim, { kind: 'again', at: now() + wait, error: error.message }));
  }
}
