/** The host that may get the token: the token endpoint's answer names it, and cvrsync checks it. */

/** The domains of Salesforce's orgs. https://help.salesforce.com/s/articleView?id=xcloud.domain_name_url_formats.htm */
const DOMAINS = ['salesforce.com', 'salesforce.mil', 'force.com', 'cloudforce.com', 'sfcrmproducts.cn', 'sfcrmapps.cn'];

/**
 * The instance address without a trailing slash; undefined unless it is https under a domain of Salesforce, or the
 * origin that issues the tokens. It parses the host, because `https://evil.example/x.salesforce.com` is not
 * Salesforce's.
 */
export function trustedInstance(instanceUrl: string, loginUrl: string): string | undefined {
  if (!URL.canParse(instanceUrl)) return undefined;
  const { protocol, hostname, origin, username, password, href } = new URL(instanceUrl);
  if (username !== '' || password !== '') return undefined;
  // Pages, not an API: jsforce throws on this one.
  if (hostname.endsWith('.lightning.force.com')) return undefined;
  const known = protocol === 'https:' && DOMAINS.some((domain) => hostname.endsWith(`.${domain}`));
  if (!known && origin !== new URL(loginUrl).origin) return undefined;
  let end = href.length;
  while (href[end - 1] === '/') end -= 1;
  return href.slice(0, end);
}
