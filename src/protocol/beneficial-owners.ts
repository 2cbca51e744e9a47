/**
 * What tells of beneficial owners. Since 1 September 2025 they are not public: the register gives them to authorities, to
 * obliged entities in customer due diligence and to who has a legitimate interest, and passing them on without a right is
 * fined (law L 192 of 2024-25). So nothing of them is read, kept, told or written unless somebody names a legal basis.
 */
import type { EventName } from './events.ts';

/** The events that tell of them. */
export const BENEFICIAL_OWNER_EVENTS: ReadonlySet<EventName> = new Set(['trueOwnership', 'trueVoteRights']);
