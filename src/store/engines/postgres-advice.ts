/** Advice for a PostgreSQL that cannot be reached, by its error. */

const GENERAL = 'see that PostgreSQL runs there and lets us in, and that the setting `store` names it';

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
    return 'cvrsync checks the certificate of PostgreSQL wherever TLS is asked for: add sslrootcert=/path/of/its/ca.pem to the address';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate of PostgreSQL names another host: write in the address a name that it has';
  if (/does not support SSL/u.test(text))
    return 'switch `ssl` on at PostgreSQL, or take sslmode out of the address where the network is trusted';
  if (/unsupported startup parameter/u.test(text))
    return 'add that parameter to ignore_startup_parameters of PgBouncer, or take it out of the address';
  if (code === '3D000') return "create it: `create database cvrsync encoding 'UTF8' template template0`";
  return GENERAL;
}

/**
 * The address with `sslmode=verify-full` for `prefer`, `require` and `verify-ca`: cvrsync promises to check the
 * certificate and the host's name, whatever the driver will make of these words.
 */
export const withFullCheck = (url: string): string =>
  /[?&]uselibpqcompat=true/u.test(url)
    ? url
    : url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/u, 'verify-full');
