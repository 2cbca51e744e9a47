/**
 * `address`: the mailbox does not exist. `sender`: the server refuses all mail of this sender. `mail`: it refuses
 * only this mail.
 */
export type RefusalCause = 'address' | 'sender' | 'mail';

/**
 * Classifies the final refusal of a mail server (RFC 5321, 4.2; enhanced codes: RFC 3463 and IANA's list). Words
 * about the sender win, because servers refuse senders with codes of addresses. Without a code, only words about the
 * address make it a refusal of the address. Pure.
 */
export function causeOf(reply: string): RefusalCause {
  const { code, status } = readReply(reply);
  if (SENDER_WORDS.test(reply)) return 'sender';
  if (status !== undefined) {
    if (ADDRESS_STATUS.test(status)) return 'address';
    return SENDER_STATUS.test(status) ? 'sender' : 'mail';
  }
  if (POLICY_WORDS.test(reply)) return 'sender';
  return ADDRESS_CODES.has(code) && ADDRESS_WORDS.test(reply) ? 'address' : 'mail';
}

function readReply(reply: string): { readonly code: string; readonly status: string | undefined } {
  const [, code = '', first] = /(?:^|: )([245]\d\d)(?:[ -](\d\.\d{1,3}\.\d{1,3})\b)?/u.exec(reply) ?? [];
  // qmail puts the code at the end, as "(#5.1.1)".
  return { code, status: first ?? /\(#(\d\.\d{1,3}\.\d{1,3})\b/u.exec(reply)?.[1] };
}

/** No mailbox, no such domain, bad syntax, moved away, a domain without mail, or a closed mailbox. */
const ADDRESS_STATUS = /^5\.(?:1\.(?:1|2|3|6|10)|2\.1)$/u;
/** The sender's address or domain, and all security and policy codes, such as block lists, SPF and DKIM. */
const SENDER_STATUS = /^5\.(?:1\.[78]|7\.\d{1,3})$/u;
const ADDRESS_CODES: ReadonlySet<string> = new Set(['550', '551', '553', '554']);

const SENDER_WORDS =
  /\bsender(?:'s)? (?:address |domain |host |verif|reject|denied|blocked|not |unknown|invalid)|badmailfrom|bad mail from|envelope sender|return[- ]path|\bmail from\b/iu;
const POLICY_WORDS =
  /relay|polic|spam|\b(?:rbl|dnsbl|spf|dkim|dmarc|ptr|helo|ehlo)\b|block|blacklist|black list|listed|reputation|reverse dns|authenti|denied|client host|your (?:ip|host|server|domain)/iu;
const ADDRESS_WORDS =
  /\b(?:no such|unknown|invalid) (?:user|recipient|mailbox|address|account|local|person)|\b(?:user|recipient|mailbox|address|account)\b.{0,40}\b(?:unknown|not found|not exist|doesn't exist|no longer|disabled|inactive|closed|unavailable|rejected)|no mailbox here|not (?:our|a valid|a known) (?:customer|user|mailbox|recipient)/iu;
