/** Digests of JSON values. */
import { createHash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** The same for equal values, whatever the order of their keys. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url');
