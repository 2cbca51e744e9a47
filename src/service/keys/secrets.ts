/** Encrypts secrets in the store with the service's key, and signs tokens. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readSecretFile, storeSecretFile } from '../../store/secret-file.ts';
import { isPostgresUrl } from '../../store/store.ts';

export interface Secrets {
  /** Encrypts a text, differently at every call. */
  seal(text: string): string;
  /** Throws if another key encrypted the text, or if it changed. */
  open(sealed: string): string;
  /** A code that only a holder of the key can make. */
  sign(text: string): string;
  verify(text: string, mac: string): boolean;
}

const KEY_BYTES = 32;
const KEY_FILE = 'key file';
const VERSION = 'v1.';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const isSealed = (text: string): boolean => text.startsWith(VERSION);

/** Uses AES-256-GCM and HMAC-SHA-256, each with a key derived from the key of 32 bytes. */
export function openSecrets(key: Buffer): Secrets {
  if (key.length !== KEY_BYTES) throw new Error(`The service's key has ${key.length} bytes, it must have ${KEY_BYTES}`);
  const derived = (use: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', `cvrsync ${use}`, KEY_BYTES));
  const sealing = derived('seal');
  const signing = derived('sign');
  const sign = (text: string): Buffer => createHmac('sha256', signing).update(text).digest();

  return {
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed) {
      try {
        if (!isSealed(sealed)) throw new Error('not sealed, or by a later version');
        const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
        const iv = bytes.subarray(0, IV_BYTES);
        const decipher = createDecipheriv('aes-256-gcm', sealing, iv, { authTagLength: TAG_BYTES });
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch (cause) {
        throw new Error(
          'A secret of a monitor cannot be read: the store was made with another key. Restore its key file, or configure the same service.secretKey',
          { cause },
        );
      }
    },
    sign: (text) => sign(text).toString('base64url'),
    verify(text, mac) {
      const given = Buffer.from(mac, 'base64url');
      const wanted = sign(text);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}

/**
 * The configured key (32 bytes in base64), else the key file of a SQLite store, `<store>.key`. The first start
 * creates that file; only its owner can read it. Back it up with the store. Throws for a PostgreSQL store without a
 * configured key, because each machine would create its own.
 */
export async function loadSecretKey(configured: string | undefined, storeUrl: string): Promise<Buffer> {
  if (configured !== undefined)
    return readKey(configured, 'service.secretKey', 'set the key that the store was made with');
  if (isPostgresUrl(storeUrl))
    throw new Error(
      'service.secretKey is missing: a PostgreSQL store needs it. Make one with: openssl rand -base64 32',
    );
  const file = `${storeUrl}.key`;
  const text = await storeSecretFile(file, KEY_FILE, () => randomBytes(KEY_BYTES).toString('base64'));
  return readKey(text, `The key file ${file}`, 'restore it from the backup, or delete it where the store is new');
}

export async function keyFileOf(storeUrl: string): Promise<string | undefined> {
  const file = `${storeUrl}.key`;
  return (await readSecretFile(file, KEY_FILE)) === undefined ? undefined : file;
}

function readKey(text: string, where: string, remedy: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES) throw new Error(`${where} does not hold ${KEY_BYTES} bytes in base64: ${remedy}`);
  return key;
}
