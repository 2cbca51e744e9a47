import { expect, it } from 'vitest';
import { checkJobs } from '../../../src/connector/links/check-jobs.ts';

const levels = (...asked: Parameters<typeof checkJobs>) =>
  checkJobs(...asked).map(({ level, subject }) => `${level} ${subject}`);

it('a connection without a job is to be fixed, and says how', () => {
  const jobs = [{ id: '1', name: 'CRM of Birk', provider: 'HubSpot' }];
  expect(levels(jobs, ['hubspot', 'hub2'])).toEqual(['fail hub2']);
  const [finding] = checkJobs(jobs, ['hub2']);
  expect(finding?.found).toContain('lists no job named hub2 for the key (it has HubSpot)');
  expect(finding?.advice).toContain('cvrsync jobs create hub2 --key KEY_ID');
  expect(levels([], ['hubspot'])).toEqual(['fail hubspot']);
});

it('a connection is looked at where the jobs of the service do not say whose they are', () => {
  const jobs = [
    { id: '1', name: 'hubspot' },
    { id: '2', name: undefined },
  ];
  expect(levels(jobs, ['hubspot', 'hub2'])).toEqual(['warn hub2']);
});
