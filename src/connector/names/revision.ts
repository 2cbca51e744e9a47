/** The revision of what a person sees before they answer; an answer to an older one is refused. */
import { hash } from 'node:crypto';

export const revisionOf = (...seen: readonly string[]): string =>
  hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 16);
