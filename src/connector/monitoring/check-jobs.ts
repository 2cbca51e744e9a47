/** Checks that the monitoring service has a job for each connection: without one it refuses every link. */
import type { WireJob } from '../../protocol/api.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';

/** One finding for each connection without a job; our own service creates its jobs itself. Pure. */
export function checkJobs(
  jobs: readonly WireJob[],
  connections: readonly string[],
  service: 'own' | 'other',
): Findings {
  const known = new Set(jobs.flatMap(({ provider, name }) => (provider ?? name)?.toLowerCase() ?? []));
  // A job's name may be its provider's or a list's: only a stated provider is certain.
  const isSure = jobs.every(({ provider }) => provider !== undefined);
  return connections
    .filter((name) => !known.has(name.toLowerCase()))
    .map((subject): Finding => {
      if (service === 'own')
        return { level: 'info', subject, found: 'our own service creates its job with the first link' };
      const found = `the monitoring service lists no job named ${subject} for the key (${jobNames(jobs)}): it would refuse every link`;
      const advice = `give the connection the name of the service's job: below connector.providers, in place of ${subject}`;
      return isSure
        ? { level: 'fail', subject, found, advice }
        : { level: 'warn', subject, found, advice: `unless a job with another name is for ${subject}, ${advice}` };
    });
}

const jobNames = (jobs: readonly WireJob[]): string =>
  jobs.length === 0
    ? 'it has none'
    : `it has ${jobs.map(({ id, name, provider }) => provider ?? name ?? id).join(', ')}`;
