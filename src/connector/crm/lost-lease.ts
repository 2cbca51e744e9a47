/** A process that froze for longer than its lease sends nothing more, and logs the loss. */
import { ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { type Lease, LeaseLostError } from '../../runtime/lanes/lease.ts';
import type { SendGuard } from './send-guard.ts';

/** Refuses calls whose lease is lost, then asks `next`. The check that costs no time comes last. */
export const guardOf =
  (lease: Lease, next?: SendGuard): SendGuard =>
  async (request) => {
    await lease.confirm().catch(throwUnavailable);
    await next?.(request);
    lease.sends();
  };

function throwUnavailable(error: unknown): never {
  if (!(error instanceof LeaseLostError)) throw error;
  throw new ProviderError('unavailable', error.message, { cause: error });
}

export interface LostLeaseDeps {
  readonly metrics?: Pick<Metrics, 'leaseLost' | 'sentAfterLeaseLost'> | undefined;
  readonly log?: { warn(details: object, message: string): void } | undefined;
}

/** `sent` counts those of the lost lanes that sent a call all the same. */
export function reportLostLeases(
  { metrics, log }: LostLeaseDeps,
  queue: string,
  { lost, sent }: { readonly lost: number; readonly sent: number },
): void {
  if (lost === 0) return;
  metrics?.leaseLost.inc(lost);
  metrics?.sentAfterLeaseLost.inc({ queue }, sent);
  const what =
    sent === 0
      ? 'this process froze for longer than its lease: another process has its work'
      : 'this process froze for longer than its lease, and sent what another process may have changed since: cvrsync reads those records again';
  log?.warn({ queue, lost, sent }, what);
}
