/** An ability of an account that the credentials may lack: what it refuses stops this ability alone, not the account. */
import { ProviderError } from '../../../providers/provider.ts';
import type { Findings } from '../../runtime/finding.ts';
import { createRateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../store/open.ts';
import type { Crm } from './crm.ts';
import { type FaultSettlement, settleFault } from './settle.ts';

export type Ability = 'notes' | 'parents' | 'edits';

/** How long a refused ability is left alone before it is tried again, in ms: somebody must grant a permission first. */
const REFUSED_MS = 5 * 60_000;

/** One ability's right to make calls. */
export interface AbilityGate {
  /** Until when nothing is to be tried, in ms since 1970; 0 if it may be. */
  blockedUntil(): Promise<number>;
  /** What a fault makes of the lanes it hit; see {@link settleFault}. */
  settle(error: unknown): Promise<FaultSettlement>;
}

/** Opens the gate of an account's ability; all processes on the store share it. */
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

/** What `check` says of abilities that are left alone at this moment because the CRM refused them. */
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

/** A connection's name holds no slash. */
const gateKey = (provider: string, ability: Ability): string => `${provider}/${ability}`;
