/** Reads forms: none before it is known who sends it, and each within the limits of its route. */
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import type { FastifyRequest } from 'fastify';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';

export interface FormBounds {
  readonly bytes: number;
  readonly fields: number;
  /** Whether the form may contain a file. The file is held in memory. */
  readonly hasFile?: true;
}

const KB = 1_000;
const MB = 1_000 * KB;

/** Enough for the most answers of a page. */
export const FORM: FormBounds = { bytes: 250 * KB, fields: 1_000 };
/** Enough for the largest payload of a webhook. */
export const PAYLOAD_FORM: FormBounds = { bytes: MB, fields: 20 };
/** Enough for a token and a path. */
export const SIGN_IN_FORM: FormBounds = { bytes: 8 * KB, fields: 10 };
/** Enough for these and a form that was interrupted by the end of a session. */
export const KEPT_FORM: FormBounds = { bytes: 3 * MB, fields: 10 };
export const MOST_MB = 10;
export const FILE_FORM: FormBounds = { bytes: (MOST_MB + 1) * MB, fields: 20, hasFile: true };

export class TooLarge extends HttpError {
  readonly bounds: FormBounds;

  constructor(bounds: FormBounds) {
    super(413, `a form may have ${bounds.fields} fields and ${bounds.bytes} bytes here`);
    this.bounds = bounds;
  }
}

const bounds = new WeakMap<FastifyRequest, FormBounds>();

/** Allows reading the form of a request. Call it once it is known who sends it: other requests are answered unread. */
export const allowForm = (request: FastifyRequest, form: FormBounds): void => void bounds.set(request, form);

export const isFileForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');

/** Makes this scope read forms, and no other body. */
export function readForms(scope: Server): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const form = boundsOf(request);
      const text = (await readBody(payload, form)).toString('utf8');
      if (countOf(text, '&') >= form.fields) throw new TooLarge(form);
      return parse(text, '&', '=', { maxKeys: 0 });
    },
  );
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    const form = boundsOf(request);
    if (form.hasFile === undefined) throw new HttpError(415, 'no file is taken here');
    return await readParts(request, await readBody(payload, form), form);
  });
}

function boundsOf(request: FastifyRequest): FormBounds {
  const form = bounds.get(request);
  if (form === undefined) throw new Error(`${request.routeOptions.url} reads a form and does not say how large`);
  return form;
}

/** Reads a body that is too large to its end, and discards it: a browser shows no answer before that. */
async function readBody(payload: IncomingMessage, form: FormBounds): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of payload) {
    size += chunk.length;
    if (size <= form.bytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > form.bytes) throw new TooLarge(form);
  return Buffer.concat(chunks);
}

function countOf(text: string | Buffer, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** The fields of a form with a file, and the bytes of the file. */
async function readParts(
  { headers }: FastifyRequest,
  body: Buffer<ArrayBuffer>,
  form: FormBounds,
): Promise<Readonly<Record<string, unknown>>> {
  const type = headers['content-type'] ?? '';
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new HttpError(400, 'the form cannot be read');
  if (countOf(body, `--${boundary}`) > form.fields + 1) throw new TooLarge(form);
  const read = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => undefined);
  if (read === undefined) throw new HttpError(400, 'the form cannot be read');
  const fields: Record<string, unknown> = {};
  for (const [name, value] of read)
    fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
  return fields;
}
