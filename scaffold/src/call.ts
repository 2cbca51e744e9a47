/** The HTTP calls to the CRM: every call of the provider passes here. */
import { type ProviderContext, ProviderError, retryAfterMs } from 'cvrsync/provider';
import type { Settings } from './settings.ts';

/** The body of the answer, a JSON object. */
export type Answer = Readonly<Record<string, unknown>>;

/**
 * Calls the CRM through the Http of the runtime, which limits, counts and ends calls. It throws faults of the whole
 * connection: say what happened and what to do, and never include a secret.
 */
export function call({ http, now }: ProviderContext, { baseUrl, token }: Settings, signal: AbortSignal) {
  return async (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const {
      status,
      headers: answered,
      body: text,
    } = await http({ method, url: baseUrl + path, headers, signal, ...sent });
    if (status === 401) throw new ProviderError('auth', 'My CRM refused the token: put a valid one in token');
    if (status === 429) {
      const wait = retryAfterMs(answered['retry-after'], now()) ?? 10_000;
      throw new ProviderError('rate', 'My CRM answered 429: too many calls', { retryAfterMs: wait });
    }
    if (status >= 500) throw new ProviderError('unavailable', `My CRM answered ${status}`);
    if (status >= 400) throw new ProviderError('refused', `My CRM answered ${status}: may the token use companies?`);
    return parsed(text, status);
  };
}

/** A success that is not JSON did nothing: it is a maintenance page, or something in between answered. */
function parsed(text: string, status: number): Answer {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null) return { ...json };
  } catch {
    // Thrown below.
  }
  throw new ProviderError('unavailable', `My CRM answered ${status} with something that is no JSON object`);
}
