/** Links that end a monitor's mail to one address, and the page that they open (RFC 8058). */
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { acceptRaw } from '../../http/server/raw-body.ts';
import type { Server } from '../../http/server/server.ts';
import { errorBody } from '../../protocol/api.ts';
import { escapeHtml } from '../../protocol/news.ts';
import { withoutSlash } from '../../protocol/text/trim.ts';
import type { Store } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { sameAddress } from './address.ts';
import { endMail } from './stopped-mails.ts';

type Signer = Pick<Secrets, 'sign' | 'verify'>;

const PATH = '/unsubscribe';
/** Part of the signed text, so a code for another purpose is invalid here. */
const PURPOSE = 'unsubscribe';

export function unsubscribeUrl(publicUrl: string, secrets: Signer, monitor: string, recipient: string): string {
  const who = Buffer.from(JSON.stringify([monitor, sameAddress(recipient)])).toString('base64url');
  // A header must be ASCII, but a host may not be.
  return new URL(`${withoutSlash(publicUrl)}${PATH}?token=${who}.${secrets.sign(`${PURPOSE} ${who}`)}`).href;
}

function readToken(
  secrets: Signer,
  token: string,
): { readonly monitor: string; readonly recipient: string } | undefined {
  const [who = '', mac = '', ...more] = token.split('.');
  if (more.length > 0 || !secrets.verify(`${PURPOSE} ${who}`, mac)) return undefined;
  const [monitor, recipient]: unknown[] = JSON.parse(Buffer.from(who, 'base64url').toString('utf8'));
  return typeof monitor === 'string' && typeof recipient === 'string' ? { monitor, recipient } : undefined;
}

export interface UnsubscribeDeps {
  readonly store: Store;
  readonly secrets: Signer;
  readonly now: () => number;
}

const querystring = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'From the link in a mail.',
    examples: ['WyJtIiwiYUBiIl0.bm90LW91cnM'],
  }),
});
const html = { 'text/html': { schema: Type.String({ description: 'A page for people.' }) } };
const failure = { 'application/json': { schema: errorBody } };
const response = {
  200: { description: 'The page.', content: html },
  400: { description: 'The link is not one of ours, or there is no token.', content: { ...html, ...failure } },
};
const bodyless = { 413: { description: 'A body over 16 KiB.', content: failure } };

/**
 * Adds `GET /unsubscribe`, a page with a button, and `POST`, which unsubscribes: so mail programs that open links in
 * advance do no harm.
 */
export function addUnsubscribeRoutes(server: Server, { store, secrets, now }: UnsubscribeDeps): void {
  server.register(async (scope: Server) => {
    // The form posts its fields, and mail programs post `List-Unsubscribe=One-Click` as form or multipart; the route
    // needs neither.
    acceptRaw(scope);

    const common = { tags: ['mail'], security: [], querystring, response };
    scope.get(
      PATH,
      {
        schema: {
          ...common,
          operationId: 'askToUnsubscribe',
          summary: 'Page that asks whether to end a mail',
          description: 'Behind the link at the end of every mail; changes nothing.',
        },
      },
      async (request, reply) => {
        const found = readToken(secrets, request.query.token);
        if (found === undefined) return send(reply, 400, INVALID);
        const name = await nameOf(store, found.monitor);
        // Relative, because the public address may have a path.
        const action = escapeHtml(`?token=${encodeURIComponent(request.query.token)}`);
        return send(
          reply,
          200,
          `<h1>Afmeld mails</h1>
<p>Skal vi holde op med at sende mails fra overvågningen <b>${escapeHtml(name)}</b> til <b>${escapeHtml(found.recipient)}</b>?</p>
<form method="post" action="${action}"><button type="submit">Ja, afmeld</button></form>`,
        );
      },
    );
    scope.post(
      PATH,
      {
        bodyLimit: 16 * 1024,
        schema: {
          ...common,
          response: { ...response, ...bodyless },
          operationId: 'unsubscribe',
          summary: 'Ends a mail',
          description: 'Ends the mails of one monitor to one address (RFC 8058). The body is not read. Idempotent.',
        },
      },
      async (request, reply) => {
        const found = readToken(secrets, request.query.token);
        if (found === undefined) return send(reply, 400, INVALID);
        await store.write((tx) => endMail(tx, found.monitor, found.recipient, { now: now() }));
        return send(
          reply,
          200,
          `<h1>Du er afmeldt</h1>
<p>Vi sender ikke flere mails fra overvågningen til <b>${escapeHtml(found.recipient)}</b>.</p>`,
        );
      },
    );
  });
}

const INVALID = `<h1>Linket virker ikke</h1>
<p>Det er ikke helt, eller det er lavet om. Brug linket nederst i den nyeste mail.</p>`;

async function nameOf(store: Store, monitor: string): Promise<string> {
  const row = await store.db.selectFrom('monitor').select('name').where('id', '=', monitor).executeTakeFirst();
  return row?.name ?? monitor;
}

/** The page runs no scripts, loads nothing, and reveals its link to no other site. */
const send = (reply: FastifyReply, status: 200 | 400, body: string): FastifyReply =>
  reply
    .code(status)
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex',
    })
    .send(`<!doctype html>
<html lang="da">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Afmeld mails</title>
<style>body{max-width:36rem;margin:3rem auto;padding:0 1rem;font:16px/1.5 sans-serif}button{font:inherit;padding:.5rem 1rem}</style></head>
<body>
${body}
</body>
</html>
`);
