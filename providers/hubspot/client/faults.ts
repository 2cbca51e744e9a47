/** HubSpot's unsuccessful answers, and the faults of the connection that they mean. */
import { type HttpResponse, type Observation, ProviderError } from '../../provider.ts';
import { retryAfterMs } from '../../retry-after.ts';
import { type HubspotErrorBody, parseErrorBody } from './error-body.ts';
import { untilMidnight } from './midnight.ts';

/** An answer outside 2xx. The verbs handle 400, 404 and 409; the rest becomes a {@link ProviderError}. */
export class HubspotRefusal extends Error {
  override readonly name = 'HubspotRefusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HubspotErrorBody;

  constructor(response: HttpResponse) {
    super(`HubSpot answered ${response.status}`);
    this.status = response.status;
    this.headers = response.headers;
    this.body = parseErrorBody(response.body);
  }

  /** Whether something on the way to HubSpot refused: HubSpot states a reason or a correlation id in each error. */
  get isForeign(): boolean {
    const { message, category, correlationId } = this.body;
    const isNameless = message === '' && category === '' && correlationId === undefined;
    return FOREIGN.has(this.status) && isNameless && this.headers['x-hubspot-correlation-id'] === undefined;
  }
}

/** The statuses of firewalls and proxies that refuse to pass a call on. */
const FOREIGN: ReadonlySet<number> = new Set([403, 413]);

export const notHubspot = (status: number): string =>
  `a firewall or a proxy on the way to HubSpot refused the call (${status}): HubSpot did not answer it`;

/** The clock of the account; `timeZone` is known after a read of the account's details. */
export interface AccountClock {
  readonly now: number;
  readonly timeZone: string | undefined;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** A move to another data centre takes a day at most. */
const MOVE_MAX_MS = 24 * HOUR_MS;
const MESSAGE_CHARS = 600;

/** The fault of the connection that a refused answer means, if no single record is at fault; pure. */
export function faultOf(answer: HubspotRefusal, clock: AccountClock): ProviderError {
  const { status, headers, body } = answer;
  const after = retryAfterMs(headers['retry-after'], clock.now);
  const withRetryAfter = (ms: number | undefined) => (ms === undefined ? {} : { retryAfterMs: ms });
  switch (true) {
    case status === 401:
      return new ProviderError(
        'auth',
        errorMessage(answer, 'HubSpot refused the access token; put a valid one in accessToken'),
      );
    case answer.isForeign:
      return new ProviderError('refused', notHubspot(status));
    case status === 403:
      return new ProviderError('refused', errorMessage(answer, missingScopes(body)));
    case status === 429:
      return new ProviderError(
        'rate',
        errorMessage(answer, `HubSpot accepts no more calls for now (${body.policyName ?? 'limit not named'})`),
        {
          retryAfterMs: after ?? rateWaitMs(answer, clock),
        },
      );
    case status === 423:
      return new ProviderError('locked', errorMessage(answer, 'HubSpot has locked the companies for a moment'), {
        retryAfterMs: Math.max(2 * SECOND_MS, after ?? 0),
      });
    case status === 477:
      return new ProviderError('locked', errorMessage(answer, 'HubSpot is moving the account to another data centre'), {
        retryAfterMs: Math.min(MOVE_MAX_MS, after ?? HOUR_MS),
      });
    case status >= 500 || status === 408:
      return new ProviderError('unavailable', errorMessage(answer, 'HubSpot is not available'), withRetryAfter(after));
    case status === 404:
      return new ProviderError(
        'refused',
        errorMessage(answer, 'HubSpot does not know this address; check baseUrl and apiVersion'),
      );
    case status === 414:
      return new ProviderError(
        'refused',
        errorMessage(answer, 'the address was too long for HubSpot; map fewer properties'),
      );
    default:
      return new ProviderError('refused', errorMessage(answer, `HubSpot refused the call: ${reasonOf(body)}`));
  }
}

export const reasonOf = (body: HubspotErrorBody): string =>
  (body.message === '' ? body.category || 'no reason given' : body.message).slice(0, MESSAGE_CHARS);

/** The budget in an answer's headers; answers to searches have none. */
export function observe(response: HttpResponse): Observation | undefined {
  const remaining = count(response.headers['x-hubspot-ratelimit-remaining']);
  const daily = count(response.headers['x-hubspot-ratelimit-daily-remaining']);
  if (daily !== undefined && daily <= 0) {
    // The answer to the next call names the DAILY policy, from which the time until midnight follows.
    return {
      remaining,
      pauseMs: 60 * SECOND_MS,
      reason: 'the daily limit of the account is used up',
    };
  }
  return remaining === undefined ? undefined : { remaining };
}

function rateWaitMs({ headers, body }: HubspotRefusal, { now, timeZone }: AccountClock): number {
  if (body.policyName === 'SECONDLY') return SECOND_MS;
  if (body.policyName !== 'DAILY') return count(headers['x-hubspot-ratelimit-interval-milliseconds']) || 10 * SECOND_MS;
  try {
    return timeZone === undefined ? HOUR_MS : untilMidnight(now, timeZone);
  } catch {
    return HOUR_MS;
  }
}

/** HubSpot leads on to the keys of the account that the reader is in. */
const SERVICE_KEYS = 'https://app.hubspot.com/service-keys';

/** HubSpot's message, with the missing scope and the page that grants it. */
export const lackOf = (scope: string, said: string): string =>
  `${said.includes(scope) ? said : `${said}; the scope needed is ${scope}`}. Scopes of a service key: ${SERVICE_KEYS}`;

function missingScopes(body: HubspotErrorBody): string {
  const scopes = [
    ...(body.context.missingScopes ?? []),
    ...(body.context.requiredGranularScopes ?? []),
    ...(body.context.requiredScopes ?? []),
  ];
  if (scopes.length > 0)
    return `the access token lacks a scope; add ${[...new Set(scopes)].join(', ')} to the app in HubSpot`;
  return `HubSpot does not allow this call: ${reasonOf(body)}`;
}

const errorMessage = ({ status, headers, body }: HubspotRefusal, what: string): string => {
  const correlation = body.correlationId ?? headers['x-hubspot-correlation-id'];
  return `${what} (${status}${correlation === undefined ? '' : `, correlation id ${correlation}`})`;
};

const count = (header: string | undefined): number | undefined =>
  header !== undefined && /^\s*-?\d+\s*$/.test(header) ? Number(header) : undefined;
