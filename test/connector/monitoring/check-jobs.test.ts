import { expect, it } from 'vitest';
import { checkJobs } from '../../../src/connector/monitoring/check-jobs.ts';

const levels = (jobs: Parameters<typeof checkJobs>[0], connections: readonly string[]) =>
  checkJobs(jobs, connections, 'other').map(({ level, subject }) => `${level} ${subject}`);

it('a connection without a job fails with the remedy', () => {
  const jobs = [{ id: '1', name: 'CRM of Birk', provider: 'HubSpot' }];
  expect(levels(jobs, ['hubspot', 'hub2'])).toEqual(['fail hub2']);
  const [finding] = checkJobs(jobs, ['hub2'], 'other');
  expect(finding?.found).toContain('lists no job named hub2 for the key (it has HubSpot)');
  expect(finding?.advice).toContain("give the connection the name of the service's job");
  expect(finding?.advice).not.toContain('create');
  expect(levels([], ['hubspot'])).toEqual(['fail hubspot']);
});

it('a connection gets a warning if the jobs of the service name no provider', () => {
  const jobs = [
    { id: '1', name: 'hubspot' },
    { id: '2', name: undefined },
  ];
  expect(levels(jobs, ['hubspot', 'hub2'])).toEqual(['warn hub2']);
});

it('a connection without a job in our own service needs no action', () => {
  expect(checkJobs([], ['hub2'], 'own')).toEqual([
    { level: 'info', subject: 'hub2', found: 'our own service creates its job with the first link' },
  ]);
});
