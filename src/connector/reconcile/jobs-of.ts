/** Which of the service's jobs are a connection's. Pure. */
import type { WireJob } from '../../protocol/api.ts';

/**
 * The jobs that hold a connection's items. A job is named after its provider, in some case; if none is, each item may
 * say whose it is (`mixed`). A job named as another connection is that one's, whatever its items say.
 */
export function jobsOf(
  jobs: readonly WireJob[],
  provider: string,
  others: ReadonlySet<string> = new Set(),
): { readonly jobs: readonly WireJob[]; readonly mixed: boolean } {
  const exact = jobs.filter(({ name }) => name === provider);
  if (exact.length > 0) return { jobs: exact, mixed: false };
  const free = jobs.filter(({ name }) => name === undefined || !others.has(name));
  const folded = free.filter(({ name }) => name?.toLowerCase() === provider.toLowerCase());
  if (folded.length > 0) return { jobs: folded, mixed: false };
  return { jobs: free, mixed: true };
}
