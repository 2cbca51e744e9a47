/** Masks the secrets of a configuration, in a copy of it or in any text. */
import Type, { type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { decoded, MASK } from '../protocol/text/mask.ts';

/** `true`: a secret; `'url'`: an address that may hold one. */
export const secrecyOf = (schema: TSchema): unknown => Object.getOwnPropertyDescriptor(schema, 'secret')?.value;

const partFor = (schema: TSchema, value: unknown): TSchema =>
  Type.IsUnion(schema) ? (schema.anyOf.find((option) => Value.Check(option, value)) ?? schema) : schema;

const childOf = (schema: TSchema, key: string): TSchema | undefined => {
  if (Type.IsObject(schema)) return schema.properties[key];
  if (Type.IsRecord(schema)) return Type.RecordValue(schema);
  return undefined;
};

const URL_PASSWORD = /^(?<head>[a-z][a-z0-9+.-]*:\/\/[^/@:]*:)(?<password>.*)(?<tail>@[^@]*)$/i;

const IS_URL = /^[a-z][a-z0-9+.-]*:\/\//i;
const SECRET_NAME = /pass|pwd|secret|token|key|credential|signature/i;

/** Maps the values of a query whose names suggest a secret. */
function mapQuery(url: string, onSecret: (secret: string) => string): string {
  const start = url.indexOf('?') + 1;
  if (start === 0) return url;
  const end = url.includes('#', start) ? url.indexOf('#', start) : url.length;
  const parts = url.slice(start, end).split('&');
  const mapped = parts.map((part) => {
    const at = part.indexOf('=');
    const isSecret = at > 0 && at + 1 < part.length && SECRET_NAME.test(decoded(part.slice(0, at)));
    return isSecret ? `${part.slice(0, at)}=${onSecret(part.slice(at + 1))}` : part;
  });
  return url.slice(0, start) + mapped.join('&') + url.slice(end);
}

/** Walks a value by its schema; `onSecret` returns the replacement of each secret. */
function mapSecrets(given: TSchema, value: unknown, onSecret: (secret: string) => string): unknown {
  const schema = partFor(given, value);
  const secrecy = secrecyOf(schema);
  if (typeof value === 'string') {
    if (secrecy === true) return onSecret(value);
    if (secrecy !== 'url' && !IS_URL.test(value)) return value;
    const masked = value.replace(
      URL_PASSWORD,
      (_all, head: string, password: string, tail: string) => head + onSecret(password) + tail,
    );
    return mapQuery(masked, onSecret);
  }
  if (Array.isArray(value)) {
    const items = Type.IsArray(schema) ? schema.items : Type.Unknown();
    return value.map((item: unknown) => mapSecrets(items, item, onSecret));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    return [key, mapSecrets(childOf(schema, key) ?? Type.Unknown(), item, onSecret)] as const;
  });
  return Object.fromEntries(entries);
}

/** A copy with `***` for every secret; in an address, for the passwords before the host and in the query. */
export const redact = (schema: TSchema, value: unknown): unknown => mapSecrets(schema, value, () => MASK);

/** Every secret in a value; of an address its passwords, as spelled there. */
export function collectSecrets(schema: TSchema, value: unknown): Set<string> {
  const secrets = new Set<string>();
  mapSecrets(schema, value, (secret) => {
    secrets.add(secret);
    return secret;
  });
  return secrets;
}
