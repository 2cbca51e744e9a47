/** Forms with a file: read in memory, and only from those who have signed in. */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import { type AdmissionDeps, admit } from './admission.ts';

/** What a form with a file may hold, in MB. */
export const MOST_MB = 11;
const MOST_BYTES = MOST_MB * 1_000_000;

/** Has the routes of this scope read forms with a file. Whoever has no session is led to sign in, and back to `next`. */
export function acceptFiles(scope: Server, deps: AdmissionDeps): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.method !== 'POST' || (await admit(deps, request)) !== undefined) return;
    return reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 303);
  });
  scope.addContentTypeParser('multipart/form-data', (request: FastifyRequest, payload: IncomingMessage) =>
    readForm(request.headers['content-type'] ?? '', payload),
  );
}

/** The form's texts, and the bytes of its file. Reads to the end what is too large: a browser shows no answer before that. */
async function readForm(type: string, payload: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of payload) {
    size += chunk.length;
    if (size <= MOST_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > MOST_BYTES) throw new HttpError(413, `the file is larger than ${MOST_MB - 1} MB`);
  const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
  if (form === undefined) throw new HttpError(400, 'the form cannot be read');
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form)
    fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
  return fields;
}
