/**
 * Events of beneficial owners. Since 1 September 2025 these owners are not public: the register reveals them to
 * authorities, to obliged entities in customer due diligence and to parties with a legitimate interest, and people who pass
 * them on without a right are fined (law L 192 of 2024-25). So cvrsync does not read, store, send or write them unless
 * the configuration names a legal basis.
 */
import type { EventName } from './events.ts';

export const BENEFICIAL_OWNER_EVENTS: ReadonlySet<EventName> = new Set(['trueOwnership', 'trueVoteRights']);
