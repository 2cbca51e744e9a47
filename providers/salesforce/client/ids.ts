/**
 * Record ids. An id of 15 characters is case-sensitive; three more, which encode the case, make 18 that compare safely
 * without regard to it. cvrsync uses 18. https://help.salesforce.com/s/articleView?id=000385008
 */
import type { RecordId } from '../../provider.ts';

const SUFFIX = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';
const ACCOUNT_ID = /^001[0-9A-Za-z]{12}(?:[0-9A-Za-z]{3})?$/;

/** The 18 characters of an id of 15 or 18; it recomputes the last three. */
export function toLongId(id: string): string {
  const id15 = id.slice(0, 15);
  let suffix = '';
  for (let block = 0; block < 15; block += 5) {
    let bits = 0;
    for (let at = 0; at < 5; at += 1) if (/[A-Z]/.test(id15.charAt(block + at))) bits |= 1 << at;
    suffix += SUFFIX.charAt(bits);
  }
  return id15 + suffix;
}

export const isAccountId = (id: string): boolean =>
  ACCOUNT_ID.test(id) && (id.length === 15 || toLongId(id) === id.slice(0, 15) + id.slice(15).toUpperCase());

export function canonicalId(text: string): RecordId {
  if (isAccountId(text)) return { kind: 'id', id: toLongId(text) };
  return { kind: 'none', reason: whyNot(text) };
}

/** The sites that show the records of an org. */
const SITES = /\.(?:lightning\.force|my\.salesforce|salesforce|force)\.com$/u;
const RECORD = /^\/(?:lightning\/r\/(?:Account\/|sObject\/)?)?(001[0-9A-Za-z]{12}(?:[0-9A-Za-z]{3})?)(?:\/|$)/u;

/**
 * The account's id in an address such as `https://X.lightning.force.com/lightning/r/Account/001…/view`, or `/001…` of
 * the classic pages. If the settings name the org's My Domain, only on that one.
 */
export function idInAddress(
  { hostname, pathname }: URL,
  { loginUrl }: { readonly loginUrl: string },
): string | undefined {
  if (!SITES.test(hostname)) return undefined;
  const login = new URL(loginUrl).hostname;
  const [domain] = login.split('.');
  if (login.endsWith('.my.salesforce.com') && hostname.split('.')[0] !== domain) return undefined;
  return RECORD.exec(pathname)?.[1];
}

/** The address of the account's page; undefined if the settings do not name the org's My Domain. */
export function recordAddress(
  id: string,
  _org: string,
  { loginUrl }: { readonly loginUrl: string },
): string | undefined {
  const site = siteOf(loginUrl);
  return site && `${site}/r/Account/${id}/view`;
}

/** The address of the org's permission sets; undefined if the settings do not name its My Domain. */
export function permissionSetsAddress({ loginUrl }: { readonly loginUrl: string }): string | undefined {
  const site = siteOf(loginUrl);
  return site && `${site}/setup/PermSets/home`;
}

/** Where people use an org. */
function siteOf(loginUrl: string): string | undefined {
  const { hostname } = new URL(loginUrl);
  if (!hostname.endsWith('.my.salesforce.com')) return undefined;
  return `https://${hostname.replace(/\.my\.salesforce\.com$/u, '.lightning.force.com')}/lightning`;
}

function whyNot(text: string): string {
  if (!/^[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?$/.test(text)) return 'a Salesforce id has 15 or 18 letters and digits';
  if (!text.startsWith('001'))
    return `it begins with ${text.slice(0, 3)}, so it belongs to another object: the id of an account begins with 001`;
  return 'its last three characters do not fit the first fifteen: copy it again, with its upper and lower case';
}
