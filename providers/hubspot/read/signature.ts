/**
 * Checks HubSpot's signature, version 3: the HMAC of method, address, raw body and timestamp. The client's own check
 * defaults to version 1, compares in variable time and accepts timestamps of the future.
 * https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CrmRequest } from '../../provider.ts';

const MAX_AGE_MS = 5 * 60_000;
/** Clocks differ a little; a timestamp further ahead is not HubSpot's. */
const MAX_AHEAD_MS = 60_000;

type SignedRequest = Pick<CrmRequest, 'method' | 'url' | 'body'>;

/** The base64 text that HubSpot sends; `url` as HubSpot called it. */
export const signatureOf = (secret: string, { method, url, body }: SignedRequest, timestamp: string): string =>
  createHmac('sha256', secret).update(`${method}${url}`).update(body).update(timestamp).digest('base64');

/** Why a request is not HubSpot's; undefined if it is. Pure; `now` in ms since 1970. */
export function refusalOf(request: CrmRequest, secret: string, now: number): string | undefined {
  const signature = request.headers['x-hubspot-signature-v3'];
  const timestamp = request.headers['x-hubspot-request-timestamp'];
  if (signature === undefined || timestamp === undefined)
    return 'it has no X-HubSpot-Signature-v3 and X-HubSpot-Request-Timestamp';
  if (!/^\d{1,15}$/.test(timestamp)) return 'its X-HubSpot-Request-Timestamp is not a time';
  const age = now - Number(timestamp);
  if (age > MAX_AGE_MS) return 'it was signed more than five minutes ago; check the clock of this machine';
  if (age < -MAX_AHEAD_MS) return 'it was signed in the future; check the clock of this machine';
  const method = request.method.toUpperCase();
  const isSigned = [decodedUrl(request.url), request.url].some((url) =>
    isSame(signature, signatureOf(secret, { method, url, body: request.body }, timestamp)),
  );
  return isSigned ? undefined : 'its signature is wrong; check clientSecret and the public address of this server';
}

/** Decodes the characters that HubSpot decodes before it signs, and no others. */
const decodedUrl = (url: string): string =>
  url.replace(/%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (code) => decodeURIComponent(code));

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
