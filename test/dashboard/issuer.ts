/** A real OpenID Connect provider on loopback, with people who may sign in there. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { onTestFinished } from 'vitest';
import type { SingleSignOnSettings } from '../../src/dashboard/sign-in/single-sign-on.ts';
import { newVisitor, type Pages, startPages, type Visitor } from './visitor.ts';

/** What the provider says of each person, by the name they sign in with. */
type People = Record<string, Readonly<Record<string, unknown>>>;

export interface SignOnPages extends Pages {
  readonly issuer: string;
  /** May change between two sign-ins. */
  readonly people: People;
  /** Goes to the issuer from the sign-in page; the address there. */
  leave(visitor: Visitor, next?: string): Promise<string>;
  /** Signs in at the issuer; the path that it sends the browser back to. */
  signInThere(address: string, person: string): Promise<string>;
  /** Stops the issuer. */
  stopIssuer(): Promise<void>;
}

const ROLES = { viewer: ['crm'], operator: ['crm-operators'], admin: ['crm-admins'] };

/** Listens on a free port of loopback. */
async function listen(handler: RequestListener) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  const { port }: AddressInfo = JSON.parse(JSON.stringify(server.address()));
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** The dashboard, whose operators sign in at a provider of their own. */
export async function startSignOn({ now = Date.now }: { readonly now?: () => number } = {}): Promise<SignOnPages> {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const { url: issuer, stop } = await listen((request, response) => answer(request, response));
  const registered = { clientId: 'cvrsync', clientSecret: 'sesame-open-sesame-open-sesame-open' };
  const claims = { scope: 'openid profile email', roleClaim: 'groups', roles: ROLES };
  const settings = { issuer, ...registered, ...claims, publicUrl: '' } satisfies SingleSignOnSettings;
  const pages = await startPages({ now, singleSignOn: settings });
  settings.publicUrl = pages.base;
  const people: People = {};
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: settings.clientId,
        client_secret: settings.clientSecret,
        redirect_uris: [`${pages.base}/login/oidc/callback`],
        post_logout_redirect_uris: [`${pages.base}/login`],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['groups'], email: ['email', 'email_verified'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    cookies: { keys: ['a key of the tests'] },
  });
  const callback = provider.callback();
  answer = (request, response) => void callback(request, response);
  return {
    ...pages,
    issuer,
    people,
    stopIssuer: stop,
    async leave(visitor, next = '/') {
      await visitor.get('/login');
      const { headers } = await visitor.post('/login/oidc', { next });
      return String(headers['refresh']).replace('0;url=', '');
    },
    async signInThere(address, person) {
      const browser = newVisitor(issuer);
      let answered = await browser.get(address.replace(issuer, ''));
      for (let steps = 0; steps < 12; steps += 1) {
        const to = answered.headers['location'];
        if (typeof to === 'string' && to.startsWith(pages.base)) return to.replace(pages.base, '');
        const prompt = /name="prompt" value="(\w+)"/.exec(answered.text)?.[1];
        const action = /<form[^>]*action="([^"]+)"/.exec(answered.text)?.[1] ?? '';
        answered =
          typeof to === 'string'
            ? await browser.get(to.replace(issuer, ''))
            : await browser.post(action.replace(issuer, ''), { prompt: prompt ?? '', login: person, password: 'x' });
      }
      throw new Error(`the issuer never sent ${person} back: ${answered.status} ${answered.text.slice(0, 400)}`);
    },
  };
}
