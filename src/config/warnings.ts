/** Warns about risky settings: open webhooks, weak secrets, and secrets over plain HTTP. */
import type { Auth } from '../protocol/auth.ts';
import type { Config } from './load.ts';

export interface ConfigWarning {
  readonly subject: string;
  readonly found: string;
  readonly advice: string;
  /** This configuration cannot change it. */
  readonly isKnown?: true;
}

const SHORTEST_SECRET = 16;

/** The warnings in the order of the file. They contain no secret. */
export function configWarnings(config: Config, isLoopback: (host: string) => boolean): readonly ConfigWarning[] {
  const { server, admin, connector, service } = config;
  const isPublic = server.publicUrl !== undefined || !isLoopback(server.host);
  return [
    ...(connector?.webhook.auth ?? []).flatMap((auth) => aboutAuth(auth, isPublic)),
    ...inTheClear('admin.oidc.issuer', admin.oidc?.issuer, 'the client secret and sign-ins', isLoopback),
    ...inTheClear('connector.upstream.baseUrl', connector?.upstream?.baseUrl, 'the access key', isLoopback),
    ...(service === undefined ? [] : aboutRegister(service.register, isLoopback)),
  ];
}

type Register = NonNullable<Config['service']>['register'];

/** Names the sources of a list by their position. */
function aboutRegister(register: Register, isLoopback: (host: string) => boolean): readonly ConfigWarning[] {
  const sources = Array.isArray(register) ? register : [register];
  return sources.flatMap((each, index) => {
    if (each.source !== 'cvr') return [];
    const subject = `service.register${Array.isArray(register) ? `.${index}` : ''}.baseUrl`;
    return inTheClear(subject, each.baseUrl, REGISTER_SENDS, isLoopback).map((one) => ({
      ...one,
      isKnown: true as const,
    }));
  });
}

const REGISTER_SENDS = 'user name, password and what the register answers';

function aboutAuth(auth: Auth, isPublic: boolean): readonly ConfigWarning[] {
  const subject = 'connector.webhook.auth';
  const advice = 'set a secret that is hard to guess, of 16 characters or more: openssl rand -hex 32';
  if (auth.method === 'None') {
    const found =
      'None: anyone who reaches the webhook can write into the CRMs, and this server is reachable from outside';
    return isPublic ? [{ subject, found, advice }] : [];
  }
  if (auth.method === 'Signature' || auth.value.length >= SHORTEST_SECRET) return [];
  return [{ subject, found: `the secret has fewer than ${SHORTEST_SECRET} characters: it can be guessed`, advice }];
}

function inTheClear(
  subject: string,
  url: string | undefined,
  what: string,
  isLoopback: (host: string) => boolean,
): readonly ConfigWarning[] {
  if (url === undefined || !/^http:/i.test(url) || !URL.canParse(url)) return [];
  if (isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))) return [];
  return [{ subject, found: `plain http: ${what} travel in the clear`, advice: 'use https if the server offers it' }];
}
