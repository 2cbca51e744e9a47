/** Fetches a session: one token request, whose answer is checked. It stores a rotated refresh token before any use. */
import { createHash } from 'node:crypto';
import type { OAuth2 } from 'jsforce/lib/oauth2.js';
import { type ProviderContext, ProviderError } from '../../provider.ts';
import { SalesforceRefusal, unexpectedAnswer } from './errors.ts';
import { grantFault, grantOf } from './grant.ts';
import { toLongId } from './ids.ts';
import { trustedInstance } from './instance.ts';
import { objectOf, textOf } from './json.ts';
import type { SalesforceSettings } from './salesforce-settings.ts';
import type { Session } from './session.ts';

/** The returned function must not run twice at once: with rotation that revokes the token. */
export function openLogin(
  settings: SalesforceSettings,
  { keep, now }: ProviderContext,
  oauth2: OAuth2,
): () => Promise<Session> {
  const { auth, loginUrl } = settings;
  /** A rotated token that could not be stored yet; the stored one is spent. */
  let unkept: string | undefined;
  let organizationId = settings.organizationId === undefined ? undefined : toLongId(settings.organizationId);
  const key = auth.flow === 'refresh-token' ? keepKey(auth.refreshToken) : undefined;

  return async () => {
    // Each time from the store: a trial or a command may have rotated it, and a spent token ends the session of all.
    const refreshToken = unkept ?? (key === undefined ? undefined : await withStore(() => keep.get(key)));
    const answer = await requestToken(settings, oauth2, grantOf(settings, refreshToken, now()));
    const rotated = textOf(answer.refresh_token);
    if (key !== undefined && rotated !== undefined && rotated !== refreshToken) {
      unkept = rotated;
      await withStore(() => keep.set(key, rotated));
      unkept = undefined;
    }
    const session = sessionOf(answer, loginUrl);
    if (organizationId !== undefined && session.organizationId !== organizationId) {
      throw new ProviderError(
        'auth',
        `the credentials lead to the org ${session.organizationId}, not to ${organizationId} as before or as organizationId says`,
      );
    }
    organizationId = session.organizationId;
    return session;
  };
}

/** A rotated token belongs to the configured one it came from: a new one in the configuration starts over. */
const keepKey = (configured: string): string =>
  `refresh-token:${createHash('sha256').update(configured).digest('hex').slice(0, 16)}`;

async function requestToken(settings: SalesforceSettings, oauth2: OAuth2, grant: ReturnType<typeof grantOf>) {
  try {
    const answer = objectOf(await oauth2.requestToken(grant));
    if (answer !== undefined) return answer;
  } catch (error) {
    throw error instanceof SalesforceRefusal ? grantFault(error, settings) : error;
  }
  throw unexpectedAnswer('a token request');
}

async function withStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ProviderError('unavailable', 'the refresh token of Salesforce could not be stored', { cause });
  }
}

function sessionOf(answer: Readonly<Record<string, unknown>>, loginUrl: string): Session {
  const accessToken = textOf(answer.access_token);
  const instance = textOf(answer.instance_url);
  const [organization, user] = textOf(answer.id)?.split('/').slice(-2) ?? [];
  if (accessToken === undefined || instance === undefined || organization === undefined || user === undefined) {
    throw unexpectedAnswer('a token request');
  }
  const instanceUrl = trustedInstance(instance, loginUrl);
  if (instanceUrl === undefined) {
    const host = URL.canParse(instance) ? new URL(instance).host : 'an address that cannot be read';
    throw new ProviderError(
      'auth',
      `the token answer names ${host} as the org's API, which is not a host of Salesforce; check loginUrl`,
    );
  }
  return { accessToken, instanceUrl, organizationId: toLongId(organization), userId: toLongId(user) };
}
