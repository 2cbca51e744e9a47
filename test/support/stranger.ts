/** Requests that prove nothing, of many clients: the answers to one that keeps failing wait longer and longer. */
let strangers = 0;

/** The header of a client that was never here before, for a server that trusts this machine as a proxy (`trustProxy`). */
export function ofStranger(): { readonly 'x-forwarded-for': string } {
  strangers += 1;
  return { 'x-forwarded-for': `2001:db8:${strangers.toString(16)}::1` };
}
