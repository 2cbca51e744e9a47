/** Defined where authors of providers get it too. */
export { retryAfterMs } from '../../../providers/retry-after.ts';
