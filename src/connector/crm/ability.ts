/** Abilities that the credentials may lack. A refusal pauses the ability, not the account. */
import { ProviderError } from '../../../providers/provider.ts';
import type { Findings } from '../../runtime/finding.ts';
import { createRateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from './crm.ts';
import { type FaultSettlement, settleFault } from './settle.ts';

export type Ability = 'notes' | 'parents' | 'edits';

/** Pause of a refused ability: somebody must grant a permission first. */
const REFUSED_MS = 5 * 60_000;

export interface AbilityGate {
  blockedUntil(): Promise<number>;
  settle(error: unknown): Promise<FaultSettlement>;
}

/** All processes on the store share the gate. */
export function openGate(
  store: Store,
  crm: Pick<Crm, 'name' | 'rateLimiter'>,
  ability: Ability,
  now: () => number,
): AbilityGate {
  const own = createRateLimiter({ store, key: gateKey(crm.name, ability), budgets: {}, now });
  return {
    async blockedUntil() {
      const blocks = await Promise.all([crm.rateLimiter.blockedUntil(), own.blockedUntil()]);
      return Math.max(...blocks.map((block) => block?.until ?? 0));
    },
    async settle(error) {
      if (!(error instanceof ProviderError) || error.fault !== 'refused')
        return settleFault(error, crm.rateLimiter, now());
      const until = now() + (error.retryAfterMs ?? REFUSED_MS);
      await own.block(until, error.message, 'refused');
      return { paused: true, of: () => ({ kind: 'again', at: until, error: error.message, free: true }) };
    },
  };
}

export async function refusedAbilities(store: Store, provider: string, now: () => number): Promise<Findings> {
  const abilities = ['notes', 'parents', 'edits'] as const;
  const findings = abilities.map(async (ability): Promise<Findings> => {
    const block = await createRateLimiter({ store, key: gateKey(provider, ability), budgets: {}, now }).blockedUntil();
    if (block === undefined) return [];
    const advice = 'grant it to these credentials, or take it out of the configuration; it is tried again by itself';
    return [{ level: 'fail', subject: `${provider} ${ability}`, found: block.reason ?? 'refused', advice }];
  });
  return (await Promise.all(findings)).flat();
}

const gateKey = (provider: string, ability: Ability): string => `${provider}/${ability}`;
