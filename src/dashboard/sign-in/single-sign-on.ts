/** Signing in through the organisation's issuer. */
import type { FastifyReply } from 'fastify';
import { HttpFault } from '../../http/outbound/fault.ts';
import type { Server, ServerLog } from '../../http/server/server.ts';
import { isSameSecret } from '../../protocol/auth.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import type { Role } from '../../runtime/operators/operators.ts';
import {
  addSignOn,
  admitSubject,
  endSessionsOf,
  type IssuerSubject,
  SIGN_ON_SESSION_MS,
  type SignOn,
  takeSignOn,
} from '../../runtime/operators/sign-on.ts';
import { isSameOrigin } from '../access/same-origin.ts';
import { formTokenOf, ownFormToken, ownSignOnSecret, signOnSecretOf } from '../access/session-cookie.ts';
import {
  type Fields,
  FORM_TOKEN,
  fieldsOf,
  fieldValue,
  packFields,
  SECRET_FIELD,
  unpackFields,
} from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { confirmPage, loginPage } from '../page/messages.ts';
import type { Reader } from '../page/reader.ts';
import { continueTo, foreignPage, HIDDEN, readerOfRequest, sendPage } from '../routes/routes.ts';
import type { TextKey } from '../texts/texts.ts';
import type { Exchange } from './attempts.ts';
import { type Claims, type RoleMapping, roleOf, roleValuesOf, subjectOf } from './claims.ts';
import { CALLBACK_PATH, type Issuer, type IssuerSettings } from './issuer.ts';
import { beginSession, interruptedBy, type LoginDeps, signInForm } from './login.ts';

export interface SingleSignOnSettings extends IssuerSettings, RoleMapping {}

interface SignOnDeps extends LoginDeps {
  readonly log: ServerLog;
  readonly issuer: Issuer;
  readonly settings: SingleSignOnSettings;
}

/** Adds the address that sends browsers to the issuer, and the one to which they return. */
export function addSingleSignOn(app: Server, deps: SignOnDeps): void {
  app.post('/login/oidc', { ...HIDDEN, onRequest: signInForm(deps) }, (request, reply) =>
    leave(deps, { request, reply }),
  );
  app.get(CALLBACK_PATH, HIDDEN, (request, reply) => comeBack(deps, { request, reply }));
}

/** Sends the browser to the issuer through a page, because the dashboard's forms may not lead elsewhere. */
async function leave(deps: SignOnDeps, { request, reply }: Exchange): Promise<FastifyReply> {
  const to = { request, reply, halves: deps.halves };
  const reader = readerOfRequest(request);
  if (!isSameOrigin(request.headers)) return sendPage(to, foreignPage(reader));
  const fields = fieldsOf(request.body);
  const interrupted = await interruptedBy(deps, request, fields);
  const formToken = ownFormToken(request, reply);
  const again = (text: TextKey, status: number) =>
    sendPage(to, loginPage(reader, formToken, { ...deps, ...interrupted, error: reader.text(text), status }));
  if (!isSameSecret(fieldValue(fields, FORM_TOKEN), formToken)) return again('signOn.expired', 401);
  const tooMany = deps.attempts.began(to);
  if (tooMany !== undefined) return tooMany;
  try {
    const { url, state, nonce, verifier } = await deps.issuer.begin();
    const secret = ownSignOnSecret(request, reply);
    const signOn = { nonce, verifier, ...keptOf(interrupted.next, interrupted.fields) };
    await deps.store.write((tx) => addSignOn(tx, { secret, state }, signOn, deps.now()));
    return continueTo(to, url);
  } catch (error) {
    deps.log.warn(reasonOf(error), 'single sign-on could not begin');
    return again('signOn.silent', 503);
  }
}

/** What the store keeps meanwhile, without forms that hold a secret. */
function keptOf(next: string, fields: Fields | undefined): Pick<SignOn, 'next' | 'kept'> {
  if (fields === undefined) return { next, kept: null };
  const hasSecret = fields.some(([name, value]) => name === SECRET_FIELD && value !== '');
  return hasSecret ? { next: '/', kept: null } : { next, kept: packFields(fields) };
}

/** Signs in a person who returns from the issuer. */
async function comeBack(deps: SignOnDeps, { request, reply }: Exchange): Promise<FastifyReply> {
  const { store, now, settings, issuer } = deps;
  const to = { request, reply, halves: deps.halves };
  const reader = readerOfRequest(request);
  const refuse = (error: string, status = 401) =>
    sendPage(to, loginPage(reader, ownFormToken(request, reply), { ...deps, next: '/', error, status }));
  const state = fieldValue(fieldsOf(request.query), 'state');
  const secret = signOnSecretOf(request);
  const signOn = secret && (await takeSignOn(store, { secret, state }, now()));
  if (!signOn)
    return (
      (await deps.attempts.failed(to, 'an answer of the issuer that nobody asked for, or too late')) ??
      refuse(reader.text('signOn.expired'))
    );
  let claims: Claims;
  try {
    claims = await issuer.finish(request.url.split('?', 2)[1] ?? '', { ...signOn, state });
  } catch (error) {
    deps.log.warn(reasonOf(error), 'single sign-on failed');
    if (faultOf(error) !== undefined) return refuse(reader.text('signOn.silent'), 503);
    const result = `the issuer did not sign in: ${answerIn(error, 'error') ?? 'its answer is not valid'}`;
    return (await deps.attempts.failed(to, result)) ?? refuse(reader.text('signOn.refused'));
  }
  const person = subjectOf(settings.issuer, claims);
  const role = roleOf(claims, settings);
  if (role === undefined) {
    await refuseSubject(deps, person);
    return sendPage(to, noRolePage(reader, person, claims, settings));
  }
  const { name, isRevoked } = await admitPerson(deps, person, role);
  if (isRevoked) return refuse(reader.text('signOn.revoked', { name }), 403);
  const session = { operator: name, lastsMs: SIGN_ON_SESSION_MS, result: 'signed in through single sign-on' };
  const id = await beginSession(deps, to, session);
  const fields = signOn.kept === null ? undefined : unpackFields(signOn.kept);
  if (fields === undefined) return continueTo(to, signOn.next);
  return sendPage(to, confirmPage(reader, formTokenOf(id), { next: signOn.next, fields, status: 200 }));
}

/** The fault of a call to the issuer; the library may wrap it. */
const faultOf = (error: unknown): HttpFault | undefined => {
  if (error instanceof HttpFault) return error;
  return error instanceof Error && error.cause instanceof HttpFault ? error.cause : undefined;
};

/** The reason of a failure for the log. The library's errors also hold tokens, which must not be logged. */
const reasonOf = (error: unknown): object => ({
  reason: errorText(faultOf(error) ?? error),
  code: error instanceof Error && 'code' in error ? error.code : undefined,
  answer: answerIn(error, 'error'),
  description: answerIn(error, 'error_description'),
});

/** Longer than any error of an issuer. */
const MOST_SAID = 500;

/** The issuer's own error, such as `access_denied`. */
function answerIn(error: unknown, part: 'error' | 'error_description'): string | undefined {
  const said: unknown = error instanceof Error ? Reflect.get(error, part) : undefined;
  return typeof said === 'string' ? said.replace(/\p{Cc}/gu, ' ').slice(0, MOST_SAID) : undefined;
}

/** Signs a person without a role out everywhere. */
async function refuseSubject({ store, now }: SignOnDeps, { subject, name }: IssuerSubject): Promise<void> {
  await store.write(async (tx) => {
    await endSessionsOf(tx, subject);
    const entry = {
      actor: { kind: 'operator', name },
      via: 'page',
      action: 'session.refuse',
      detail: { subject },
    } as const;
    await recordAudit(tx, { ...entry, result: 'the issuer gives no role' }, now());
  });
}

async function admitPerson({ store, now }: SignOnDeps, person: IssuerSubject, role: Role) {
  return await store.write(async (tx) => {
    const admitted = await admitSubject(tx, { ...person, role }, now());
    const actor = { kind: 'operator', name: admitted.name } as const;
    if (admitted.isRevoked)
      await recordAudit(tx, { actor, via: 'page', action: 'session.refuse', result: 'the operator is revoked' }, now());
    return admitted;
  });
}

/** The most values to show. */
const SHOWN_VALUES = 20;

/** Says which role is missing, and who can give it. */
function noRolePage(reader: Reader, { name }: IssuerSubject, claims: Claims, settings: RoleMapping): PageBody {
  const wanted = Object.values(settings.roles).flat().join(', ');
  const held = roleValuesOf(claims, settings).slice(0, SHOWN_VALUES).join(', ');
  return {
    status: 403,
    title: reader.text('signOn.noRole'),
    body: html`<p>${reader.text('signOn.noRoleHelp', { name, claim: settings.roleClaim, values: wanted })}</p>
      <p>${held === '' ? reader.text('signOn.heldNone') : reader.text('signOn.held', { values: held })}</p>
      <p><a href="/login">${reader.text('signOn.again')}</a></p>`,
  };
}
