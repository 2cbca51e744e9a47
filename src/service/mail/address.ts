/** Mail addresses: what is one (RFC 5321, with the letters of RFC 6531 and domain names of IDNA), and which are the same. */
import { domainToASCII, domainToUnicode } from 'node:url';

/** Something on one line that breaks no header, and that PostgreSQL takes for text: all that is published would wait for it. */
const LOCAL = /^[^\s\p{Cc}\p{Cs}@<>(),;:"\\]+$/u;
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
const EDGE_HYPHEN = /(?:^|\.)-|-(?:\.|$)/;
const LABEL = /^[a-z0-9-]{1,63}$/;
/** In bytes, as a mail server counts them. */
const LONGEST_LOCAL = 64;
const LONGEST = 254;

/**
 * An address as it is stored, with one spelling of a domain that has letters outside of ASCII: `ida@xn--blbrgrd-fxak7p.example` is
 * `ida@blåbærgrød.example`. Undefined if the text is no address.
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

/** How an address is compared and remembered as unsubscribed. */
export function sameAddress(recipient: string): string {
  const text = recipient.trim();
  return (readAddress(text) ?? text).toLowerCase();
}

/** The address in a sender, which is one or a name with one. */
export const addressOf = (sender: string): string => /<([^<>]*)>\s*$/.exec(sender)?.[1] ?? sender;

/** The domain of a sender in ASCII, for ids of mails; undefined if it has none. */
export const domainOf = (sender: string): string | undefined =>
  domainToASCII(/@([^\s<>@]+)>?\s*$/u.exec(sender)?.[1] ?? '') || undefined;
