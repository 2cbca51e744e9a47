/** One session for all verbs: fetched on first use, renewed once for all callers that were refused, never in a loop. */
import { sessionFault } from './errors.ts';

export interface Session {
  readonly accessToken: string;
  /** The address of the API; it changes when the org moves. */
  readonly instanceUrl: string;
  readonly organizationId: string;
  readonly userId: string;
}

export interface Sessions {
  current(signal: AbortSignal): Promise<Session>;
  /** A session other than the one refused; throws `auth` if that one was just issued. */
  renew(refused: Session, signal: AbortSignal): Promise<Session>;
}

/** Age is not the reason for refusing a session this soon after it was issued. */
const TOO_SOON_MS = 5_000;

/** `login` never runs twice at once. */
export function openSessions(login: () => Promise<Session>, now: () => number): Sessions {
  let held: Session | undefined;
  let issuedAt = 0;
  let flight: Promise<Session> | undefined;

  const fetch = async () => {
    try {
      held = await login();
      issuedAt = now();
      return held;
    } finally {
      flight = undefined;
    }
  };
  /** No caller's signal ends the login: others wait for it, and a rotated token whose answer is lost is spent. */
  const join = (signal: AbortSignal) => {
    flight ??= fetch();
    return orAbort(flight, signal);
  };

  return {
    current: async (signal) => held ?? join(signal),
    async renew(refused, signal) {
      if (held === refused) {
        const age = now() - issuedAt;
        if (age >= 0 && age < TOO_SOON_MS) throw sessionFault(undefined);
        held = undefined;
      }
      return held ?? join(signal);
    },
  };
}

async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
