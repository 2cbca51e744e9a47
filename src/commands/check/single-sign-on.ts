/** Checks the issuer of single sign-on. */
import type { Config } from '../../config/load.ts';
import { callbackUrl, discoverIssuer } from '../../dashboard/sign-in/issuer.ts';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { fullErrorText } from '../../protocol/text/error-text.ts';
import type { Findings } from '../../runtime/finding.ts';

const subject = 'single sign-on';

/** Asks the issuer for what it says of itself, and names the address that it must know. */
export async function singleSignOnFindings({ admin }: Config, http: OutboundHttp): Promise<Findings> {
  const { oidc, publicUrl } = admin;
  if (oidc === undefined || publicUrl === undefined) return [];
  try {
    const found = await discoverIssuer({ ...oidc, publicUrl }, http, Date.now);
    const { issuer } = found.serverMetadata();
    const advice = `register ${callbackUrl(publicUrl)} there as the redirect address`;
    return [{ level: 'ok', subject, found: `${issuer} answers`, advice }];
  } catch (error) {
    return [
      {
        level: 'fail',
        subject,
        found: fullErrorText(error),
        advice: 'check admin.oidc.issuer; tokens and links still sign in',
      },
    ];
  }
}
