/** Calls an emulated account as any client would, past the provider. */
import type { HubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

const BASE = '/crm/objects/2026-09/companies';

/** A GET, or a POST if there is a body; `path` is under the companies unless it starts with `/`. */
export async function call(
  emulator: HubspotEmulator,
  path: string,
  body?: unknown,
  token?: string,
): Promise<RawAnswer> {
  const response = await fetch(
    `${emulator.url}${path.startsWith('/') ? path : `${BASE}${path === '' ? '' : `/${path}`}`}`,
    {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token ?? String(emulator.settings.accessToken)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    },
  );
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? JSON.parse(text) : { text },
  };
}

/** The ids of the records in an answer, in its order. */
export const resultIds = ({ body }: RawAnswer): string[] =>
  Array.isArray(body.results) ? body.results.map((result: { id: string }) => result.id) : [];

/** Inputs of a batch update, each with its trace id. */
export const traced = (ids: readonly string[], properties: Record<string, unknown>) => ({
  inputs: ids.map((id) => ({ id, objectWriteTraceId: id, properties })),
});
