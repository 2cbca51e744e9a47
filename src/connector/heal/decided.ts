/** The decision for one record, before it is applied to its link. */
import type { Claim } from '../../runtime/lanes/lanes.ts';
import type { HealDecision } from '../follow/decide-link.ts';
import type { Link } from '../links/links.ts';

/** `link`: the record's link when the CRM was read. */
export interface RecordDecision {
  readonly claim: Claim;
  readonly link: Link | undefined;
  readonly decision: HealDecision;
  readonly unread?: string;
}

export type HealKind<K extends HealDecision['kind']> = RecordDecision & {
  readonly decision: Extract<HealDecision, { kind: K }>;
};

export const isKind =
  <K extends HealDecision['kind']>(kind: K) =>
  (decided: RecordDecision): decided is HealKind<K> =>
    decided.decision.kind === kind;
