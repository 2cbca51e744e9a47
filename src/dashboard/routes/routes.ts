/** Adds pages and actions, with their role, frame and audit. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Crm } from '../../connector/crm/crm.ts';
import type { CallLimit } from '../../http/server/call-limit.ts';
import type { Server } from '../../http/server/server.ts';
import type { Ground } from '../../operations/definition/operation.ts';
import type { ServiceNeeds } from '../../operations/service/list.ts';
import { isSameSecret } from '../../protocol/auth.ts';
import { includesRole, type Role } from '../../runtime/operators/operators.ts';
import type { ServiceManagement } from '../../service/service.ts';
import { type AdmissionDeps, admit, wasAdmitted } from '../access/admission.ts';
import { allowForm, FORM, type FormBounds, isFileForm } from '../access/forms.ts';
import { isFromOtherSite, isSameOrigin } from '../access/same-origin.ts';
import { chosenLanguage, formTokenOf, ownFormToken, sessionIdOf } from '../access/session-cookie.ts';
import type { FileBody } from '../page/csv.ts';
import { type Fields, FORM_TOKEN, fieldsOf, fieldValue, fileOf } from '../page/fields.ts';
import { renderDocument } from '../page/html.ts';
import { type Frame, type Halves, layout, type PageBody } from '../page/layout.ts';
import { maskPage } from '../page/masked.ts';
import {
  confirmPage,
  continuePage,
  loginPage,
  messagePage,
  notFoundPage,
  rolePage,
  tooManyPage,
} from '../page/messages.ts';
import { type Reader, readerOf } from '../page/reader.ts';
import type { Visit, Visitor } from '../page/visit.ts';

export interface RouteDeps extends AdmissionDeps {
  readonly halves: Halves;
  /** Whether people sign in through an issuer. */
  readonly hasSignOn?: boolean | undefined;
  /** Where people without a session must sign in; `/login` by default. */
  readonly entrance?: string;
  /** Counts the actions of each operator. */
  readonly limitActions: CallLimit;
  /** How many entries of the inbox wait; read at intervals. */
  readonly waiting?: (() => Promise<number | undefined>) | undefined;
  /** Called after each action, which may have left work for the connector. */
  readonly wake?: (() => void) | undefined;
}

export interface ServicePageDeps extends RouteDeps, ServiceNeeds, Pick<Ground, 'wakeUp'> {
  readonly management: ServiceManagement;
}

export interface ReviewDeps extends RouteDeps {
  readonly crms: readonly Pick<Crm, 'name' | 'mapping'>[];
}

/** A page, or a file to download. */
export interface PageRoute {
  readonly path: string;
  /** The lowest role that sees it; `viewer` by default. */
  readonly role?: Role;
  /** A path redirects; undefined answers that nothing is at the address. */
  show(visit: Visit): Promise<PageBody | FileBody | string | undefined>;
}

/** The action of a form. It records itself in the audit, in its own transaction. */
export interface ActionRoute {
  readonly path: string;
  /** The lowest role that may run it; `operator` by default. */
  readonly role?: Role;
  /** What its form may contain; {@link FORM} by default. */
  readonly form?: FormBounds;
  /** Runs the action. Returns the path to show next, or a page that says why not. `file`: that of the field `file`. */
  run(visit: Visit, fields: Fields, file: Buffer | undefined): Promise<string | PageBody>;
}

/** Pages do not belong in the API's document, which is made of schemas. */
export const HIDDEN = { schema: { hide: true } } as const;

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '/';

/** The reader of a request, by the chosen language, else by the browser's. */
export const readerOfRequest = (request: FastifyRequest): Reader =>
  readerOf(chosenLanguage(request) ?? request.headers['accept-language'], request.server.timeZone);

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the times on the pages of a scope; Danish time if absent. */
    readonly timeZone?: string;
  }
}

export function sendPage(
  {
    request,
    reply,
    halves,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly halves: Halves },
  page: PageBody,
  frame: Partial<Pick<Frame, 'visitor' | 'formToken' | 'waiting'>> = {},
): FastifyReply {
  const reader = readerOfRequest(request);
  const whole = { reader, visitor: undefined, formToken: '', path: pathOf(request), halves, ...frame };
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(renderDocument(layout(whole, page)));
}

/**
 * Continues from a page instead of a redirect: after a link on another site, browsers withhold the session's cookie
 * from redirects.
 */
export function continueTo(
  to: Parameters<typeof sendPage>[0],
  address: string,
  page: PageBody = continuePage(readerOfRequest(to.request), address),
): FastifyReply {
  // `encodeURI` would escape a percent sign again.
  to.reply.header('refresh', `0;url=${encodeURI(address.toWellFormed()).replaceAll('%25', '%')}`);
  return sendPage(to, page);
}

export function addPage(app: Server, deps: RouteDeps, { path, role = 'viewer', show }: PageRoute): void {
  app.get(path, HIDDEN, async (request, reply) => {
    const to = { request, reply, halves: deps.halves };
    const visitor = await admit(deps, request);
    if (visitor === undefined)
      return isFromOtherSite(request.headers)
        ? continueTo(to, request.url)
        : reply.redirect(loginAddress(request, deps), 303);
    const visit = visitOf(deps, request, visitor);
    if (!includesRole(visit.visitor.role, role)) return sendPage(to, rolePage(visit.reader, role), visit);
    const page = (await show(visit)) ?? notFoundPage(visit.reader);
    if (typeof page === 'string') return reply.redirect(page, 303);
    const shown = visitor.seesPersons ? page : maskPage(page);
    if (!('file' in shown)) return sendPage(to, shown, { ...visit, waiting: await deps.waiting?.() });
    return reply
      .type(shown.type ?? 'text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${shown.file}"`)
      .header('cache-control', 'no-store')
      .send(shown.content);
  });
}

/**
 * Adds an action, for forms of the dashboard's pages only. Decides who sends a form before reading it. If the session
 * ended or changed meanwhile, the person sees what they sent and confirms it, so nothing is lost or done unseen.
 */
export function addAction(app: Server, deps: RouteDeps, action: ActionRoute): void {
  const { path, form = FORM, run } = action;
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const refused = await refuseAction(deps, action, { request, reply });
    if (refused === undefined) allowForm(request, form);
    return refused;
  };
  app.post(path, { ...HIDDEN, onRequest }, async (request, reply) => {
    const to = { request, reply, halves: deps.halves };
    const reader = readerOfRequest(request);
    const interrupted = { next: pathOf(request), fields: fieldsOf(request.body) };
    // The session may have ended while the form was being sent.
    const visitor = await admit(deps, request);
    if (visitor === undefined)
      return sendPage(to, loginPage(reader, ownFormToken(request, reply), { ...interrupted, ...deps, status: 401 }));
    const visit = visitOf(deps, request, visitor);
    if (!isSameSecret(fieldValue(interrupted.fields, FORM_TOKEN), visit.formToken))
      return sendPage(to, confirmPage(reader, visit.formToken, { ...interrupted, status: 403 }), visit);
    const next = await run(visit, interrupted.fields, fileOf(request.body, 'file'));
    deps.wake?.();
    return typeof next === 'string'
      ? reply.redirect(next, 303)
      : sendPage(to, next, { ...visit, waiting: await deps.waiting?.() });
  });
}

/** Answers those who may not send a form without reading it; undefined for the others. */
async function refuseAction(
  deps: RouteDeps,
  { role = 'operator' }: ActionRoute,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply | undefined> {
  const to = { request, reply, halves: deps.halves };
  const reader = readerOfRequest(request);
  if (!isSameOrigin(request.headers)) return sendPage(to, foreignPage(reader));
  const visitor = await admit(deps, request);
  if (visitor === undefined) {
    // A form with a file cannot be kept.
    if (isFileForm(request)) return reply.redirect(loginAddress(request, deps), 303);
    if (await wasAdmitted(deps, request)) return undefined;
    return sendPage(to, loginPage(reader, ownFormToken(request, reply), { ...deps, next: '/', status: 401 }));
  }
  const visit = visitOf(deps, request, visitor);
  if (!includesRole(visitor.role, role)) return sendPage(to, rolePage(reader, role), visit);
  const wait = deps.limitActions(visitor.actor.name);
  return wait === undefined
    ? undefined
    : sendPage({ ...to, reply: reply.header('retry-after', wait) }, tooManyPage(reader), visit);
}

/** Refuses a form that another site made the browser send. */
export const foreignPage = (reader: Reader): PageBody =>
  messagePage(reader, { status: 403, title: reader.text('origin.title'), help: reader.text('origin.help') });

const loginAddress = (request: FastifyRequest, { entrance }: RouteDeps): string =>
  entrance ?? (request.url === '/' ? '/login' : `/login?next=${encodeURIComponent(request.url)}`);

function visitOf(deps: RouteDeps, request: FastifyRequest, visitor: Visitor): Visit {
  const query = fieldsOf(request.query);
  const params = fieldsOf(request.params);
  return {
    reader: readerOfRequest(request),
    visitor,
    now: deps.now(),
    formToken: formTokenOf(sessionIdOf(request) ?? ''),
    query: (name) => fieldValue(query, name),
    param: (name) => fieldValue(params, name),
  };
}
