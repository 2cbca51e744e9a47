import { errors } from 'undici';

/**
 * `timeout`: missed the deadline; `aborted`: by the caller's signal; `refused`: nothing listens; `dns`: no such host;
 * `tls`: the connection cannot be trusted; `cut`: it ended early; `redirect`: not followed; `too-large`: over the
 * limit; `address`: refused by the guard; `network`: anything else.
 */
export type HttpFaultKind =
  | 'timeout'
  | 'aborted'
  | 'refused'
  | 'dns'
  | 'tls'
  | 'cut'
  | 'redirect'
  | 'too-large'
  | 'address'
  | 'network';

/** A call without a whole answer. It may still have had its effect. The message holds no query, header or body. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly kind: HttpFaultKind;

  constructor(kind: HttpFaultKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

const CODES: Readonly<Record<string, HttpFaultKind>> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  UND_ERR_SOCKET: 'cut',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  EPROTO: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  ADDRESS_REFUSED: 'address',
};

/** OpenSSL's verification results and Node's TLS codes, of which there are dozens. */
const TLS_CODE = /CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|CRL|ISSUER/;

const TEXTS: Readonly<Record<HttpFaultKind, string>> = {
  timeout: 'could not connect in time',
  aborted: 'was stopped',
  refused: 'was refused: nothing listens at this address',
  dns: 'found no such host: check the base URL and the name server',
  tls: 'found a connection that cannot be trusted: check the certificate and the base URL',
  cut: 'was cut off before the complete answer arrived',
  redirect: 'was answered with a redirect',
  'too-large': 'was answered with headers that are too large',
  address: 'may not go to this address: it is not a public one, and the configuration does not allow it',
  network: 'failed with a network error',
};

const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== undefined);
  return codeOf(error.cause);
};

export function faultOf(error: unknown, what: string): HttpFault {
  if (error instanceof errors.ResponseContentLengthMismatchError)
    return new HttpFault(
      'cut',
      `${what} was cut off, or answered with contradicting lengths (${error.message})`,
      error,
    );
  if (isMalformed(error))
    return new HttpFault(
      'network',
      `${what} was answered with something that is not valid HTTP (${error.message})`,
      error,
    );
  const code = codeOf(error) ?? 'no code';
  const kind = CODES[code] ?? (TLS_CODE.test(code) ? 'tls' : 'network');
  return new HttpFault(kind, `${what} ${TEXTS[kind]} (${code})`, error);
}

/** Whether an answer violates HTTP. The library's text names the violation, without quoting the answer. */
const isMalformed = (error: unknown): error is Error =>
  error instanceof errors.HTTPParserError ||
  // The same error class reports a connection that the other side closed.
  (error instanceof errors.SocketError && error.message.startsWith('bad '));
