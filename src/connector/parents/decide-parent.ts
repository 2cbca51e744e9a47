/** The rule for the parent of one record: a person's choice stays. Pure. */
import type { DesiredParent } from './desired-parent.ts';

/** What is to be done; `given` is the parent that is ours afterwards. */
export type ParentDecision =
  | { readonly kind: 'done'; readonly given: string | null }
  | { readonly kind: 'write'; readonly parent: string | null }
  | { readonly kind: 'keep'; readonly detail: string };

/** Decides by the parent that the CRM holds: it is replaced or ended where it is blank or ours. */
export function decideParent(crm: string | null, { given, pending, wanted }: DesiredParent): ParentDecision {
  const isOurs = crm !== null && (crm === given || pending.includes(crm));
  switch (wanted.kind) {
    case 'leave':
      return { kind: 'done', given };
    case 'none':
      return isOurs ? { kind: 'write', parent: null } : { kind: 'done', given: null };
    case 'parent':
      // Where the CRM merged the parent we gave into this one, ours has moved along.
      if (crm === wanted.id) return { kind: 'done', given: isOurs || given !== null ? crm : null };
      if (crm === null || isOurs) return { kind: 'write', parent: wanted.id };
      return { kind: 'keep', detail: `a person chose ${crm}, it stays; ${wanted.why}` };
  }
}
