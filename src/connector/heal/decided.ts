/** A record that was decided, on its way to its link. */
import type { Claim } from '../../runtime/lanes/lanes.ts';
import type { HealDecision } from '../follow/decide-link.ts';
import type { Link } from '../links/links.ts';

/** One record's turn: its link as it was when the CRM was asked, and what the answer makes of it. */
export interface RecordDecision {
  readonly claim: Claim;
  readonly link: Link | undefined;
  readonly decision: HealDecision;
  /** Set if the CRM could not say what became of the record. */
  readonly unread?: string;
}

/** A record with a decision of that kind. */
export type HealKind<K extends HealDecision['kind']> = RecordDecision & {
  readonly decision: Extract<HealDecision, { kind: K }>;
};

export const isKind =
  <K extends HealDecision['kind']>(kind: K) =>
  (decided: RecordDecision): decided is HealKind<K> =>
    decided.decision.kind === kind;
