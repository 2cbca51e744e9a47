/** Which host the token may be sent to: the answer of the token endpoint names it, and is not simply believed. */

/** Domains Salesforce serves orgs under. https://help.salesforce.com/s/articleView?id=xcloud.domain_name_url_formats.htm */
const DOMAINS = ['salesforce.com', 'salesforce.mil', 'force.com', 'cloudforce.com', 'sfcrmproducts.cn', 'sfcrmapps.cn'];

/**
 * The instance address without a slash at the end, or undefined where it is not to be trusted: https under a domain of
 * Salesforce, or the very origin tokens come from. The host is parsed, for `https://evil.example/x.salesforce.com` is none.
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
