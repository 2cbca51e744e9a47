/** Signing in and out: a token or a link becomes a session. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Server } from '../../http/server/server.ts';
import { isSameSecret } from '../../protocol/auth.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { findOperator } from '../../runtime/operators/operators.ts';
import {
  endSession,
  isLoginLink,
  type NewSession,
  startSession,
  useLoginLink,
} from '../../runtime/operators/sessions.ts';
import { admit, wasAdmitted } from '../access/admission.ts';
import { allowForm, KEPT_FORM, SIGN_IN_FORM } from '../access/forms.ts';
import { isFromOtherSite, isSameOrigin } from '../access/same-origin.ts';
import { forgetSession, formTokenOf, keepSession, ownFormToken } from '../access/session-cookie.ts';
import { type Fields, FORM_TOKEN, fieldsOf, fieldValue, unpackFields } from '../page/fields.ts';
import { confirmPage, type Interrupted, loginPage } from '../page/messages.ts';
import {
  addAction,
  continueTo,
  foreignPage,
  HIDDEN,
  type RouteDeps,
  readerOfRequest,
  sendPage,
} from '../routes/routes.ts';
import type { Attempts } from './attempts.ts';
import type { Issuer } from './issuer.ts';

/** The page after somebody from single sign-on signed out. */
const SIGNED_OUT = '/login?signed-out=1';

export interface LoginDeps extends RouteDeps {
  readonly attempts: Attempts;
}

/** `issuer`: for single sign-on. */
export function addLogin(app: Server, deps: LoginDeps, issuer?: Issuer): void {
  app.get('/login', HIDDEN, async (request, reply) => {
    const to = { request, reply, halves: deps.halves };
    const reader = readerOfRequest(request);
    const visitor = await admit(deps, request);
    const query = fieldsOf(request.query);
    const next = ownPath(fieldValue(query, 'next'));
    if (visitor !== undefined) return reply.redirect(next, 303);
    if (isFromOtherSite(request.headers)) return continueTo(to, request.url);
    const isOut = fieldValue(query, 'signed-out') !== '';
    const endSessionUrl = isOut ? issuer?.endSessionUrl() : undefined;
    return sendPage(to, loginPage(reader, ownFormToken(request, reply), { ...deps, next, endSessionUrl }));
  });

  app.post('/login', { ...HIDDEN, onRequest: signInForm(deps) }, (request, reply) => signIn(deps, request, reply));

  // A HEAD request, as previews of links send it, must not use the link up.
  app.get('/login/:link', { ...HIDDEN, exposeHeadRoute: false }, async (request, reply) => {
    const to = { request, reply, halves: deps.halves };
    const link = fieldValue(fieldsOf(request.params), 'link');
    // An invalid link costs a read, and no write.
    const isLink = await isLoginLink(deps.store.db, link);
    const operator = isLink ? await deps.store.write((tx) => useLoginLink(tx, link, deps.now())) : undefined;
    if (operator !== undefined) {
      await beginSession(deps, to, { operator });
      return continueTo(to, '/');
    }
    const tooMany = await deps.attempts.failed(to, 'a link that was used already, is too old, or is none');
    if (tooMany !== undefined) return tooMany;
    const reader = readerOfRequest(request);
    const error = reader.text('login.linkUsed');
    return sendPage(to, loginPage(reader, ownFormToken(request, reply), { ...deps, next: '/', error, status: 401 }));
  });

  addAction(app, deps, {
    path: '/logout',
    role: 'viewer',
    async run({ visitor: { actor, session }, now }) {
      await deps.store.write(async (tx) => {
        await endSession(tx, actor.name, session.hash);
        await recordAudit(tx, { actor, via: 'page', action: 'session.end', result: 'signed out' }, now);
      });
      return session.isSignOn ? SIGNED_OUT : '/login';
    },
  });
}

/** A token becomes a session. An interrupted page continues; an interrupted form needs a confirmation. */
async function signIn(deps: LoginDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const to = { request, reply, halves: deps.halves };
  const reader = readerOfRequest(request);
  if (!isSameOrigin(request.headers)) return sendPage(to, foreignPage(reader));
  const fields = fieldsOf(request.body);
  const interrupted = await interruptedBy(deps, request, fields);
  const formToken = ownFormToken(request, reply);
  // Before all limits, with one read: strangers must not lock out somebody who has a token.
  const operator = await findOperator(deps.store.db, fieldValue(fields, 'token').trim());
  const tooMany = operator === undefined ? await deps.attempts.failed(to, 'a wrong token') : undefined;
  if (tooMany !== undefined) return tooMany;
  // A browser that keeps no cookies cannot sign in: it is asked again.
  if (operator === undefined || !isSameSecret(fieldValue(fields, FORM_TOKEN), formToken)) {
    const error = reader.text('login.wrong');
    return sendPage(to, loginPage(reader, formToken, { ...deps, ...interrupted, error, status: 401 }));
  }
  const id = await beginSession(deps, to, { operator: operator.name });
  if (interrupted.fields === undefined) return reply.redirect(interrupted.next, 303);
  return sendPage(to, confirmPage(reader, formTokenOf(id), { ...interrupted, status: 200 }));
}

/** Decides how much of a sign-in form is read: of strangers only the sign-in itself. */
export const signInForm =
  (deps: RouteDeps) =>
  async (request: FastifyRequest): Promise<void> =>
    allowForm(request, (await wasAdmitted(deps, request)) ? KEPT_FORM : SIGN_IN_FORM);

/** What a person requested before they had to sign in, from the sign-in form. Keeps no form of strangers. */
export async function interruptedBy(deps: RouteDeps, request: FastifyRequest, fields: Fields): Promise<Interrupted> {
  const kept = unpackFields(fieldValue(fields, 'kept'));
  const isKept = kept !== undefined && (await wasAdmitted(deps, request));
  return { next: ownPath(fieldValue(fields, 'next')), fields: isKept ? kept : undefined };
}

/** Starts a session, sets its cookie, and returns its id. */
export async function beginSession(
  { store, now }: RouteDeps,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  session: Omit<NewSession, 'agent'> & { readonly result?: string },
): Promise<string> {
  const agent = request.headers['user-agent'] ?? '';
  const id = await store.write(async (tx) => {
    const actor = { kind: 'operator', name: session.operator } as const;
    const result = session.result ?? 'signed in';
    await recordAudit(tx, { actor, via: 'page', action: 'session.start', result }, now());
    return startSession(tx, { ...session, agent }, now());
  });
  forgetSession(request, reply);
  keepSession(request, reply, id);
  return id;
}

/** Longer than any address of the dashboard. */
const LONGEST_PATH = 2_000;

/** A path of the dashboard; the overview for anything that could lead elsewhere. */
export function ownPath(next: string): string {
  // Browsers read a backslash as a slash, and ignore control characters.
  const isPath =
    next.length <= LONGEST_PATH &&
    next.startsWith('/') &&
    !next.startsWith('//') &&
    !next.includes('\\') &&
    !/\p{Cc}/u.test(next);
  return isPath && !/^\/log(?:in|out)\b/.test(next) ? next : '/';
}
