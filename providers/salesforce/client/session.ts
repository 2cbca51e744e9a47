/** One session for all verbs: fetched when first needed, renewed once for all who were refused, never in a loop. */
import { sessionFault } from './errors.ts';

export interface Session {
  readonly accessToken: string;
  /** Where the API answers; changes when the org moves. */
  readonly instanceUrl: string;
  readonly organizationId: string;
  readonly userId: string;
}

export interface Sessions {
  /** The session held, or a new one. */
  current(signal: AbortSignal): Promise<Session>;
  /** Another session than the one Salesforce refused; an `auth` fault where that one was only just issued. */
  renew(refused: Session, signal: AbortSignal): Promise<Session>;
}

/** A session refused this soon after it was issued is refused for another reason than its age. */
const TOO_SOON_MS = 5_000;

/** Holds the session; `login` is run by one caller at a time. */
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
  /** Not ended by any one caller's signal: others wait for it, and a rotated token whose answer is lost is spent. */
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
