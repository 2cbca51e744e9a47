/** The admin token: how programs and operators prove themselves on the admin listener. */
import { hkdfSync, randomBytes } from 'node:crypto';
import path from 'node:path';
import { storeSecretFile } from '../../store/secret-file.ts';
import { isPostgresUrl } from '../../store/store.ts';

const TOKEN_BYTES = 32;

/** Where the token comes from. */
export interface TokenSource {
  /** `admin.token` of the configuration. */
  readonly token: string | undefined;
  /** The store's path or URL. */
  readonly store: string;
  /** `service.secretKey` of the configuration. */
  readonly secretKey: string | undefined;
}

/**
 * The configured token. Else, beside a SQLite store, the file `<store>.token`: it is made at the first start, readable by its
 * owner only. A PostgreSQL store has no file that all replicas share: there the token is derived from the configured
 * `service.secretKey`. Undefined where neither is: then nobody proves themselves with a token.
 */
export async function loadAdminToken({ token, store, secretKey }: TokenSource): Promise<string | undefined> {
  if (token !== undefined) return token;
  if (!isPostgresUrl(store)) return readToken(path.resolve(`${store}.token`));
  if (secretKey === undefined) return undefined;
  const key = Buffer.from(secretKey, 'base64');
  return Buffer.from(hkdfSync('sha256', key, '', 'cvrsync admin token', TOKEN_BYTES)).toString('base64url');
}

async function readToken(file: string): Promise<string> {
  const text = await storeSecretFile(file, 'token file', () => randomBytes(TOKEN_BYTES).toString('base64url'));
  const token = text.trim();
  if (/^[!-~]{16,}$/.test(token)) return token;
  throw new Error(`The token file ${file} does not hold a token of 16 characters or more: delete it, and one is made`);
}
