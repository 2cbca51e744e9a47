/** Selects the jobs of a connection. Pure. */
import type { WireJob } from '../../protocol/api.ts';

/**
 * A job is named after its provider, in any case; otherwise each item may name its provider (`mixed`). A job named
 * after another connection belongs to that one.
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
