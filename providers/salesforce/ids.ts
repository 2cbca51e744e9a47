/**
 * Record ids. The 15 characters of an id tell upper from lower case; three more, which encode the case,
 * make 18 that are safe to compare without regard to it. Records are named by 18.
 * https://help.salesforce.com/s/articleView?id=000385008
 */
const SUFFIX = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';
const ACCOUNT_ID = /^001[0-9A-Za-z]{12}(?:[0-9A-Za-z]{3})?$/;

/** The 18 characters of an id of 15 or 18; the last three are worked out anew. */
export function to18(id: string): string {
  const id15 = id.slice(0, 15);
  let suffix = '';
  for (let block = 0; block < 15; block += 5) {
    let bits = 0;
    for (let at = 0; at < 5; at += 1) if (/[A-Z]/.test(id15.charAt(block + at))) bits |= 1 << at;
    suffix += SUFFIX.charAt(bits);
  }
  return id15 + suffix;
}

/** Tells whether a text can be the id of an Account at all. */
export const isAccountId = (id: string): boolean =>
  ACCOUNT_ID.test(id) && (id.length === 15 || to18(id) === id.slice(0, 15) + id.slice(15).toUpperCase());
