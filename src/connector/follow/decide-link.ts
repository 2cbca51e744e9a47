/** Decides the change of a link from its record in the CRM. Pure. */
import type { PropertyValue, Read } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId, parseEntityId } from '../../protocol/entity-id.ts';
import { CAME_BY_MERGE, type Link } from '../links/links.ts';

/** The content of a record's match property: a company's number, blank, another text, or unseen. */
export type RecordNumber =
  | {
      readonly kind: 'company';
      readonly entity: string;
      /** Whether it fails the check digits, or was read by adding a leading zero: it may be another company's. */
      readonly isUnsure: boolean;
    }
  | { readonly kind: 'blank' | 'unseen' }
  | { readonly kind: 'other'; readonly text: string };

/**
 * `link`: the record belongs to the company, unless another record does. `end`: it no longer does. `follow`: it belongs
 * to another company now. `mismatch`: its number contradicts its link, and an operator decides. `move`: it was merged
 * into another record. `held`: something would change, but the CRM holds the record.
 */
export type HealDecision =
  | { readonly kind: 'nothing' | 'held' }
  | {
      readonly kind: 'link';
      readonly entity: string;
      readonly origin: Link['origin'];
      /** The contradicting number that a person accepted. */
      readonly mismatch?: string;
    }
  | { readonly kind: 'end'; readonly state: 'gone' | 'removed'; readonly reason: string }
  | { readonly kind: 'follow'; readonly entity: string; readonly reason: string }
  | { readonly kind: 'mismatch'; readonly mismatch: string; readonly reason: string }
  | { readonly kind: 'move'; readonly to: string };

export interface HealRule {
  readonly match: string | undefined;
  readonly autoLink: boolean;
  readonly isHeld: (properties: Readonly<Record<string, PropertyValue>>) => boolean;
}

export type DecidingLink = Pick<Link, 'entity' | 'state' | 'origin' | 'mismatch'>;

const NOTHING = { kind: 'nothing' } as const;
const UNSURE = "fails the register's check (modulus 11) or lacks its leading zero";

/** The order of the CRM's messages does not matter; `retry` changes nothing. */
export function decideLink(link: DecidingLink | undefined, read: Read, rule: HealRule): HealDecision {
  if (read.kind === 'gone')
    return isOpen(link) ? { kind: 'end', state: 'gone', reason: 'deleted in the CRM' } : NOTHING;
  if (read.kind === 'moved') return read.to === read.id ? NOTHING : { kind: 'move', to: read.to };
  if (read.kind === 'retry') return NOTHING;
  const numbered = readNumber(read.properties, rule.match);
  const decision = isOpen(link) ? decideOpen(link, numbered) : decideEnded(link, numbered, rule.autoLink);
  const waits = decision.kind !== 'nothing' && rule.isHeld(read.properties);
  return waits ? { kind: 'held' } : decision;
}

/** A decision that forbids writing as the link says. */
export type Objection = Extract<HealDecision, { readonly reason: string }>;

/**
 * Why a record must not be written as its link says: its number is another company's or missing. Undefined without an
 * objection. The link itself is decided as for any other change. `left`: an operator has yet to decide whether the link
 * ends, or decided that it stays; then a removed number is no objection.
 */
export function objectionTo(link: DecidingLink, read: Read, match: string, left: boolean): Objection | undefined {
  const decision = decideLink(link, read, { match, autoLink: false, isHeld: () => false });
  if (left && decision.kind === 'end') return undefined;
  return 'reason' in decision ? decision : undefined;
}

/** Adds a lost leading zero if the check digits agree. */
export function readNumber(
  properties: Readonly<Record<string, PropertyValue>>,
  match: string | undefined,
): RecordNumber {
  const value = match === undefined ? undefined : properties[match];
  if (value === undefined) return { kind: 'unseen' };
  const read = readCvrNumber(value);
  if (read.kind === 'number' || (read.kind === 'lost-zero' && read.valid)) {
    const isPadded = read.kind === 'lost-zero' || (typeof value === 'number' && read.number.startsWith('0'));
    return { kind: 'company', entity: companyEntityId(read.number), isUnsure: isPadded || !read.valid };
  }
  return read.kind === 'blank' ? { kind: 'blank' } : { kind: 'other', text: String(value).slice(0, 100) };
}

const mismatchText = (numbered: RecordNumber): string =>
  numbered.kind === 'company' ? numbered.entity : numbered.kind === 'other' ? numbered.text : '';

const isOpen = (link: DecidingLink | undefined): link is DecidingLink =>
  link?.state === 'active' || link?.state === 'conflict';

function decideOpen(link: DecidingLink, numbered: RecordNumber): HealDecision {
  // Two companies claim the record, and no number decides between them.
  if (link.state === 'conflict' && link.mismatch === null) return NOTHING;
  if (numbered.kind === 'unseen') return NOTHING;
  if (link.origin === 'person') return decideByHand(link, numbered);
  if (numbered.kind === 'company' && numbered.entity === link.entity) {
    const isSettled = link.state === 'active' && link.mismatch === null;
    return isSettled ? NOTHING : { kind: 'link', entity: link.entity, origin: link.origin };
  }
  const text = mismatchText(numbered);
  if (isAccepted(link, text)) return NOTHING;
  return decideContradicted(link, numbered, text);
}

function decideContradicted(link: DecidingLink, numbered: RecordNumber, text: string): HealDecision {
  if (numbered.kind === 'blank')
    return { kind: 'end', state: 'removed', reason: 'the record no longer holds a CVR number' };
  const isSure = numbered.kind === 'company' && !numbered.isUnsure;
  // Another record has the company: there is no link that a person could keep.
  if (link.state === 'conflict' && link.mismatch === link.entity && !isSure)
    return { kind: 'end', state: 'removed', reason: `the record no longer holds the number of ${link.entity}` };
  if (numbered.kind === 'other')
    return { kind: 'mismatch', mismatch: text, reason: `the record holds "${text}", which is not a CVR number` };
  if (link.mismatch === CAME_BY_MERGE)
    return { kind: 'mismatch', mismatch: text, reason: `came by a merge to a record that holds the number of ${text}` };
  if (!isSure)
    return { kind: 'mismatch', mismatch: text, reason: `the record holds the number of ${text}, which ${UNSURE}` };
  return { kind: 'follow', entity: text, reason: `the record's number is that of ${text} now` };
}

function decideByHand(link: DecidingLink, numbered: RecordNumber): HealDecision {
  const other = otherCompany(link.entity, numbered);
  if (other === undefined)
    return link.state === 'active' ? NOTHING : { kind: 'link', entity: link.entity, origin: link.origin };
  if (isAccepted(link, other)) return NOTHING;
  const reason = `linked by hand, but the record holds the number of ${other}`;
  return { kind: 'mismatch', mismatch: other, reason };
}

/** The company whose number contradicts a link made by hand; undefined without such a number. */
export function otherCompany(entity: string, numbered: RecordNumber): string | undefined {
  // A record of a production unit or a person may hold its company's number.
  const isCompany = parseEntityId(entity)?.kind === 'company';
  return isCompany && numbered.kind === 'company' && numbered.entity !== entity ? numbered.entity : undefined;
}

/**
 * Whether a person saw this number, or none, and kept the link; in a conflict, whether they are asked about it already.
 * A survivor without a number does not end a link that came by a merge.
 */
const isAccepted = (link: DecidingLink, mismatch: string): boolean => link.mismatch === mismatch;

function decideEnded(link: DecidingLink | undefined, numbered: RecordNumber, autoLink: boolean): HealDecision {
  const byNumber = decideByNumber(link, numbered);
  if (link === undefined) return autoLink ? byNumber : NOTHING;
  if (link.state === 'gone') return decideRestored(link, numbered);
  if (link.origin === 'number') return byNumber;
  // A person removed the link to this company only.
  const isRemoved = numbered.kind === 'company' && numbered.entity === link.entity;
  return autoLink && !isRemoved ? byNumber : NOTHING;
}

/** Links by a number only if it is certain: a mistyped number may be another company's. */
function decideByNumber(link: DecidingLink | undefined, numbered: RecordNumber): HealDecision {
  if (numbered.kind !== 'company') return NOTHING;
  const { entity, isUnsure } = numbered;
  return isUnsure && entity !== link?.entity ? NOTHING : { kind: 'link', entity, origin: 'number' };
}

function decideRestored(link: DecidingLink, numbered: RecordNumber): HealDecision {
  const { entity, origin } = link;
  const text = mismatchText(numbered);
  if (isAccepted(link, text)) return { kind: 'link', entity, origin, mismatch: text };
  // The link is restored if a person made it, or if the number cannot be read.
  return origin === 'person' || numbered.kind === 'unseen'
    ? { kind: 'link', entity, origin }
    : decideByNumber(link, numbered);
}
