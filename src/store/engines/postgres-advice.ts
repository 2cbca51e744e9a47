/** Advice for a PostgreSQL that cannot be reached, by its error. */

const GENERAL = 'check that PostgreSQL runs there and accepts this user, and that the setting `store` names it';

/** Error codes of Node and OpenSSL. */
const UNTRUSTED: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
];

export function adviceFor(error: unknown): string {
  const [code, text] =
    error instanceof Error ? ['code' in error ? String(error.code) : '', error.message] : ['', String(error)];
  if (UNTRUSTED.includes(code))
    return 'cvrsync checks the certificate of PostgreSQL if the address asks for TLS: add sslrootcert=/path/of/its/ca.pem to the address';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate of PostgreSQL names another host: use a name from the certificate in the address';
  if (/does not support SSL/u.test(text))
    return 'enable `ssl` in PostgreSQL, or remove sslmode from the address if you trust the network';
  if (/unsupported startup parameter/u.test(text))
    return 'add that parameter to ignore_startup_parameters of PgBouncer, or remove it from the address';
  if (code === '3D000') return "create it: `create database cvrsync encoding 'UTF8' template template0`";
  return GENERAL;
}

/**
 * The address with `sslmode=verify-full` for `prefer`, `require` and `verify-ca`: cvrsync promises to check the
 * certificate and the host name, and drivers interpret these modes differently.
 */
export const withFullCheck = (url: string): string =>
  /[?&]uselibpqcompat=true/u.test(url)
    ? url
    : url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/u, 'verify-full');
