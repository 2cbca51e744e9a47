/** The admin token: the credential of programs and operators on the admin listener. */
import { hkdfSync, randomBytes } from 'node:crypto';
import path from 'node:path';
import { storeSecretFile } from '../../store/secret-file.ts';
import { isPostgresUrl } from '../../store/store.ts';

const TOKEN_BYTES = 32;

export interface TokenSource {
  readonly token: string | undefined;
  readonly store: string;
  readonly secretKey: string | undefined;
}

/**
 * Returns the configured token. Otherwise a SQLite store has it in the file `<store>.token`, which the first start
 * creates, readable only by its owner. Replicas on PostgreSQL share no file: they derive the token from
 * `service.secretKey`. Without that, no token is accepted.
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
  throw new Error(
    `The token file ${file} does not hold a token of 16 characters or more: delete it, and cvrsync creates a new one`,
  );
}
