/** Digests of JSON values. */
import { createHash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** Equal for equal values, in any order of their keys. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url');
