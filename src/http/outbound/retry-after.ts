/** Defined in the providers, because authors of providers need it too. */
export { retryAfterMs } from '../../../providers/retry-after.ts';
