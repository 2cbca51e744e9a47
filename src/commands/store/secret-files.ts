/** The secret files next to a SQLite store: `<store>.key`, which encrypts those of monitors, and `<store>.token`. */
import { readSecretFile, storeSecretFile } from '../../store/secret-file.ts';
import { isPostgresUrl } from '../../store/store.ts';

export interface MovedSecrets {
  readonly copied: readonly string[];
  /** What a person must set in the configuration, in sentences. */
  readonly toSet: readonly string[];
}

interface Configured {
  readonly secretKey: boolean;
  readonly token: boolean;
}

/** Copies them next to a SQLite store. PostgreSQL has no files, so it says what to configure instead. */
export async function moveSecrets(fromUrl: string, toUrl: string, configured: Configured): Promise<MovedSecrets> {
  const none = { copied: [], toSet: [] };
  if (isPostgresUrl(fromUrl)) return none;
  const key = configured.secretKey ? undefined : await readSecretFile(`${fromUrl}.key`, 'key file');
  const token = configured.token ? undefined : await readSecretFile(`${fromUrl}.token`, 'token file');
  if (isPostgresUrl(toUrl))
    return {
      copied: [],
      toSet: [
        ...(key === undefined
          ? []
          : [
              `Set service.secretKey to what ${fromUrl}.key holds (secretKey_FILE reads a file): it opens the secrets.`,
            ]),
        ...(token === undefined
          ? []
          : [
              `Programs use the admin token of ${fromUrl}.token: set admin.token to it (token_FILE), or give them another.`,
            ]),
      ],
    };
  return {
    copied: [
      ...(key === undefined ? [] : [await copySecret(`${toUrl}.key`, 'key file', key)]),
      ...(token === undefined ? [] : [await copySecret(`${toUrl}.token`, 'token file', token)]),
    ],
    toSet: [],
  };
}

/** Never replaces a file that holds another secret. */
async function copySecret(to: string, what: string, text: string): Promise<string> {
  const kept = await storeSecretFile(to, what, () => text.trim());
  if (kept.trim() !== text.trim()) throw new Error(`${to} exists, and holds another secret: move it away`);
  return to;
}
