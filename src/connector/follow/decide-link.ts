/** Decides what becomes of a link, from its record as the CRM holds it. Pure. */
import type { PropertyValue, Read } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId, parseEntityId } from '../../protocol/entity-id.ts';
import { CAME_BY_MERGE, type Link } from '../links/links.ts';

/** What the record says of itself: an entity id, nothing, a text that is no company's number, or we cannot see it. */
export type Numbered =
  | {
      readonly kind: 'company';
      readonly entity: string;
      /** Whether it fails the register's check, or was read by putting a zero before it: it may be another company's. */
      readonly isUnsure: boolean;
    }
  | { readonly kind: 'blank' | 'unseen' }
  | { readonly kind: 'other'; readonly text: string };

/**
 * What is to become of a link.
 * `link`: the record stands for the company, unless another record does. `end`: it no longer does.
 * `follow`: it stands for another company now. `mismatch`: its number speaks against its link, and an operator decides.
 * `move`: it was merged into another one. `held`: something would change, but the CRM says to leave the record alone.
 */
export type HealDecision =
  | { readonly kind: 'nothing' | 'held' }
  | {
      readonly kind: 'link';
      readonly entity: string;
      readonly origin: Link['origin'];
      /** What speaks against it and was accepted by a person. */
      readonly mismatch?: string;
    }
  | { readonly kind: 'end'; readonly state: 'gone' | 'removed'; readonly reason: string }
  | { readonly kind: 'follow'; readonly entity: string; readonly reason: string }
  | { readonly kind: 'mismatch'; readonly mismatch: string; readonly reason: string }
  | { readonly kind: 'move'; readonly to: string };

export interface HealRule {
  /** The property with the number, where there is one that can be read. */
  readonly match: string | undefined;
  /** Whether records that have no link are linked by their number. */
  readonly autoLink: boolean;
  readonly isHeld: (properties: Readonly<Record<string, PropertyValue>>) => boolean;
}

/** The part of a link that this decides by. */
export type LinkStand = Pick<Link, 'entity' | 'state' | 'origin' | 'mismatch'>;

const NOTHING = { kind: 'nothing' } as const;
const UNSURE = "fails the register's check (modulus 11) or lacks its leading zero";

/** Decides for one record, whatever the order of the CRM's messages; `retry` counts as nothing. */
export function decideLink(link: LinkStand | undefined, read: Read, rule: HealRule): HealDecision {
  if (read.kind === 'gone')
    return isOpen(link) ? { kind: 'end', state: 'gone', reason: 'deleted in the CRM' } : NOTHING;
  if (read.kind === 'moved') return read.to === read.id ? NOTHING : { kind: 'move', to: read.to };
  if (read.kind === 'retry') return NOTHING;
  const numbered = readNumber(read.properties, rule.match);
  const decision = isOpen(link) ? decideOpen(link, numbered) : decideEnded(link, numbered, rule.autoLink);
  const waits = decision.kind !== 'nothing' && rule.isHeld(read.properties);
  return waits ? { kind: 'held' } : decision;
}

/** What speaks against writing to a record as its link says. */
export type Objection = Extract<HealDecision, { readonly reason: string }>;

/**
 * Why a record that was read must not be written to as its link says: by its number it stands for another company by now,
 * or for none. Undefined if nothing speaks against it. What becomes of the link is decided as for any other change.
 * `left`: an operator has yet to decide whether it ends, or decided that it does not; a number that was taken out is no
 * objection then.
 */
export function objectionTo(link: LinkStand, read: Read, match: string, left: boolean): Objection | undefined {
  const decision = decideLink(link, read, { match, autoLink: false, isHeld: () => false });
  if (left && decision.kind === 'end') return undefined;
  return 'reason' in decision ? decision : undefined;
}

/** Reads the number of a record; a lost leading zero is put back if the check digits say so. */
export function readNumber(properties: Readonly<Record<string, PropertyValue>>, match: string | undefined): Numbered {
  const value = match === undefined ? undefined : properties[match];
  if (value === undefined) return { kind: 'unseen' };
  const read = readCvrNumber(value);
  if (read.kind === 'number' || (read.kind === 'lost-zero' && read.valid)) {
    const isPadded = read.kind === 'lost-zero' || (typeof value === 'number' && read.number.startsWith('0'));
    return { kind: 'company', entity: companyEntityId(read.number), isUnsure: isPadded || !read.valid };
  }
  return read.kind === 'blank' ? { kind: 'blank' } : { kind: 'other', text: String(value).slice(0, 100) };
}

/** What would speak against a link to another company. */
const textOf = (numbered: Numbered): string =>
  numbered.kind === 'company' ? numbered.entity : numbered.kind === 'other' ? numbered.text : '';

/** Whether the link counts, or waits for something to be settled. */
const isOpen = (link: LinkStand | undefined): link is LinkStand =>
  link?.state === 'active' || link?.state === 'conflict';

function decideOpen(link: LinkStand, numbered: Numbered): HealDecision {
  // Two companies claim the record: no number decides that.
  if (link.state === 'conflict' && link.mismatch === null) return NOTHING;
  if (numbered.kind === 'unseen') return NOTHING;
  if (link.origin === 'person') return decideByHand(link, numbered);
  if (numbered.kind === 'company' && numbered.entity === link.entity) {
    const isSettled = link.state === 'active' && link.mismatch === null;
    return isSettled ? NOTHING : { kind: 'link', entity: link.entity, origin: link.origin };
  }
  const text = textOf(numbered);
  if (isAccepted(link, text)) return NOTHING;
  if (numbered.kind === 'blank')
    return { kind: 'end', state: 'removed', reason: 'the record no longer holds a CVR number' };
  if (numbered.kind === 'other')
    return { kind: 'mismatch', mismatch: text, reason: `the record holds "${text}", which is no CVR number` };
  if (link.mismatch === CAME_BY_MERGE)
    return { kind: 'mismatch', mismatch: text, reason: `came by a merge to a record that holds the number of ${text}` };
  if (numbered.kind === 'company' && numbered.isUnsure)
    return { kind: 'mismatch', mismatch: text, reason: `the record holds the number of ${text}, which ${UNSURE}` };
  return { kind: 'follow', entity: text, reason: `the record's number is that of ${text} now` };
}

function decideByHand(link: LinkStand, numbered: Numbered): HealDecision {
  const other = otherCompany(link.entity, numbered);
  if (other === undefined)
    return link.state === 'active' ? NOTHING : { kind: 'link', entity: link.entity, origin: link.origin };
  if (isAccepted(link, other)) return NOTHING;
  const reason = `linked by hand, but the record holds the number of ${other}`;
  return { kind: 'mismatch', mismatch: other, reason };
}

/** The company whose number in a record speaks against a link made by hand: without a number there is none. */
export function otherCompany(entity: string, numbered: Numbered): string | undefined {
  // A production unit or a person may well stand in a record that shows its company's number.
  const isCompany = parseEntityId(entity)?.kind === 'company';
  return isCompany && numbered.kind === 'company' && numbered.entity !== entity ? numbered.entity : undefined;
}

/**
 * Whether a person saw this number, or none, and kept the link; in a conflict: whether that is what they are asked
 * already. A link that came by a merge is not ended by a survivor without a number.
 */
const isAccepted = (link: LinkStand, mismatch: string): boolean => link.mismatch === mismatch;

function decideEnded(link: LinkStand | undefined, numbered: Numbered, autoLink: boolean): HealDecision {
  const byNumber = decideByNumber(link, numbered);
  if (link === undefined) return autoLink ? byNumber : NOTHING;
  if (link.state === 'gone') return decideRestored(link, numbered);
  if (link.origin === 'number') return byNumber;
  // A person removed the link to this company, not to every other.
  const isRemoved = numbered.kind === 'company' && numbered.entity === link.entity;
  return autoLink && !isRemoved ? byNumber : NOTHING;
}

/** Links by the number only if it is certain: a mistyped number may be another company's. */
function decideByNumber(link: LinkStand | undefined, numbered: Numbered): HealDecision {
  if (numbered.kind !== 'company') return NOTHING;
  const { entity, isUnsure } = numbered;
  return isUnsure && entity !== link?.entity ? NOTHING : { kind: 'link', entity, origin: 'number' };
}

/** A record that was deleted in the CRM, and restored there. */
function decideRestored(link: LinkStand, numbered: Numbered): HealDecision {
  const { entity, origin } = link;
  const text = textOf(numbered);
  if (isAccepted(link, text)) return { kind: 'link', entity, origin, mismatch: text };
  // The link counts again as it was if a person made it, or where cvrsync cannot read the number.
  return origin === 'person' || numbered.kind === 'unseen'
    ? { kind: 'link', entity, origin }
    : decideByNumber(link, numbered);
}
