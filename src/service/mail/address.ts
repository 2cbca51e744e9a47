import { domainToASCII, domainToUnicode } from 'node:url';

/** Safe in a header, and text for PostgreSQL: a failing insert would block all publishing. */
const LOCAL = /^[^\s\p{Cc}\p{Cs}@<>(),;:"\\]+$/u;
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
const EDGE_HYPHEN = /(?:^|\.)-|-(?:\.|$)/;
const LABEL = /^[a-z0-9-]{1,63}$/;
const LONGEST_LOCAL = 64;
const LONGEST = 254;

/**
 * Returns the stored form of an address, with one spelling for domains outside ASCII: `ida@xn--blbrgrd-fxak7p.example`
 * becomes `ida@blåbærgrød.example`. Undefined if the text is not an address.
 */
export function readAddress(text: string): string | undefined {
  const at = text.indexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  const domain = text.slice(at + 1);
  const bytes = Buffer.byteLength(local);
  if (!LOCAL.test(local) || bytes > LONGEST_LOCAL || !WRITTEN_DOMAIN.test(domain) || EDGE_HYPHEN.test(domain))
    return undefined;
  const ascii = domainToASCII(domain);
  if (!isDomain(ascii) || bytes + 1 + ascii.length > LONGEST) return undefined;
  const readable = domainToUnicode(ascii);
  return readable === ascii ? text : `${local}@${readable}`;
}

function isDomain(ascii: string): boolean {
  const labels = ascii.split('.');
  if (labels.length < 2 || EDGE_HYPHEN.test(ascii) || !labels.every((label) => LABEL.test(label))) return false;
  return /^[a-z]/.test(labels.at(-1) ?? '');
}

/** The form in which addresses are compared and unsubscribed. */
export function sameAddress(recipient: string): string {
  const text = recipient.trim();
  return (readAddress(text) ?? text).toLowerCase();
}

/** The address in a sender, which is an address or a name with one. */
export const addressOf = (sender: string): string => /<([^<>]*)>\s*$/.exec(sender)?.[1] ?? sender;

export const domainOf = (sender: string): string | undefined =>
  domainToASCII(/@([^\s<>@]+)>?\s*$/u.exec(sender)?.[1] ?? '') || undefined;
