/** The entry to the set-up: the code in the link of `serve` becomes a session. No requested address holds the code. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Server } from '../../http/server/server.ts';
import { isSameSecret } from '../../protocol/auth.ts';
import { isLoginLink, useLoginLink } from '../../runtime/operators/sessions.ts';
import { nextStep, readDraft } from '../../setup/draft.ts';
import { admit } from '../access/admission.ts';
import { allowForm, SIGN_IN_FORM } from '../access/forms.ts';
import { isSameOrigin } from '../access/same-origin.ts';
import { ownFormToken } from '../access/session-cookie.ts';
import { FORM_TOKEN, fieldsOf, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import type { Reader } from '../page/reader.ts';
import { foreignPage, HIDDEN, readerOfRequest, sendPage } from '../routes/routes.ts';
import { beginSession, type LoginDeps } from '../sign-in/login.ts';
import { addressOf } from '../steps/step-route.ts';
import { FIRST } from './first-way.ts';

export function addEntry(app: Server, deps: LoginDeps): void {
  const { store, halves } = deps;
  const next = async (): Promise<string> => addressOf(FIRST, nextStep(await readDraft(store.db)));
  app.get('/setup', HIDDEN, async (request, reply) => {
    const to = { request, reply, halves };
    if ((await admit(deps, request)) !== undefined) return reply.redirect(await next(), 303);
    // Also for links on another site: another page of the dashboard would lose what comes after #.
    return sendPage(to, entryPage(readerOfRequest(request), ownFormToken(request, reply)));
  });
  const onRequest = async (request: FastifyRequest): Promise<void> => allowForm(request, SIGN_IN_FORM);
  app.post('/setup', { ...HIDDEN, onRequest }, async (request, reply): Promise<FastifyReply> => {
    const to = { request, reply, halves };
    const reader = readerOfRequest(request);
    if (!isSameOrigin(request.headers)) return sendPage(to, foreignPage(reader));
    const fields = fieldsOf(request.body);
    const formToken = ownFormToken(request, reply);
    const code = codeIn(fieldValue(fields, 'code'));
    const isOurs = isSameSecret(fieldValue(fields, FORM_TOKEN), formToken);
    const isLink = isOurs && (await isLoginLink(store.db, code));
    const operator = isLink ? await store.write((tx) => useLoginLink(tx, code, deps.now())) : undefined;
    if (operator !== undefined) {
      await beginSession(deps, to, { operator, result: 'signed in by the link of the set-up' });
      return reply.redirect(await next(), 303);
    }
    const tooMany = await deps.attempts.failed(
      to,
      'a link of the set-up that was used already, is too old, or is none',
    );
    return tooMany ?? sendPage(to, entryPage(reader, formToken, reader.text('setup.linkUsed')));
  });
}

/** People also paste the whole link. */
const codeIn = (text: string): string => text.trim().replace(/^.*#/su, '');

const entryPage = (reader: Reader, formToken: string, error?: string): PageBody => ({
  ...(error !== undefined && { status: 401 }),
  title: reader.text('setup.title'),
  body: html`<p>${reader.text('setup.welcome')}</p>
    ${error !== undefined && html`<p class="notice bad" role="alert" id="code-error">${error}</p>`}
    <form method="post" action="/setup" class="narrow" data-code>
      ${hidden({ [FORM_TOKEN]: formToken })}
      <label for="code">${reader.text('setup.code')}</label>
      <input id="code" name="code" type="password" autocomplete="off" required aria-describedby=${error === undefined ? 'code-help' : 'code-error code-help'} />
      <p class="quiet" id="code-help">${reader.text('setup.codeHelp')}</p>
      <button class="primary">${reader.text('setup.begin')}</button>
    </form>`,
});
