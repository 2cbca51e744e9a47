/** Calls to a CRM that outlast its bad moments: one silent page of thousands is no reason to begin anew. */
import { ProviderError } from '../../../providers/provider.ts';
import { backoff } from '../../runtime/backoff.ts';
import { pause } from '../../runtime/pause.ts';
import type { Ground } from './ground.ts';

/** A pause that lasts longer is for another run. */
const LONGEST_PAUSE_MS = 5 * 60_000;
const TRIES = 5;
const LONGEST_BACKOFF_MS = 30_000;
const PAUSE_MS = { rate: 10_000, locked: 60_000 } as const;

/** Makes a call again after a pause that the CRM asks for, and a few times after a silence. Throws the rest. */
export async function patiently<T>(
  { crm, now }: Pick<Ground, 'crm' | 'now'>,
  call: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      const ms = error instanceof ProviderError ? pauseAfter(error, tries) : undefined;
      if (!(error instanceof ProviderError) || ms === undefined) throw error;
      if (error.fault !== 'unavailable') await crm.pace.block(now() + ms, error.message);
      await pause(ms, signal);
    }
  }
}

function pauseAfter({ fault, retryAfterMs }: ProviderError, tries: number): number | undefined {
  if (fault === 'auth' || fault === 'refused') return undefined;
  if (fault === 'unavailable')
    return tries >= TRIES ? undefined : Math.max(retryAfterMs ?? 0, backoff(tries, { capMs: LONGEST_BACKOFF_MS }));
  const ms = Math.max(retryAfterMs ?? PAUSE_MS[fault], 1_000);
  return ms > LONGEST_PAUSE_MS ? undefined : ms;
}
