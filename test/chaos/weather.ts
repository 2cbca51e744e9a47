/** What goes wrong at the CRMs while the chaos test runs: scripted from a seed, so that a bad day can be had again. */
import type { FaultAction } from '../../providers/kit/emulator/emulator.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { Crms } from '../support/fixture.ts';

type Actions = readonly [FaultAction, ...FaultAction[]];

const busy = (status: number): FaultAction => ({
  kind: 'status',
  status,
  body: '<html>',
  headers: { 'retry-after': '1' },
});

const ANYWHERE: Actions = [
  busy(500),
  busy(503),
  { kind: 'reset' },
  { kind: 'reset', applied: true },
  { kind: 'cut' },
  { kind: 'cut', applied: true },
];

const HUBSPOT: Actions = [
  {
    kind: 'status',
    status: 429,
    headers: { 'retry-after': '1' },
    body: { status: 'error', category: 'RATE_LIMITS', policyName: 'TEN_SECONDLY_ROLLING', message: 'limit reached' },
  },
  { kind: 'status', status: 423, headers: { 'retry-after': '1' }, body: { status: 'error', message: 'locked' } },
  ...ANYWHERE,
];

const SALESFORCE: Actions = [
  {
    kind: 'status',
    status: 403,
    headers: { 'retry-after': '1' },
    body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'ConcurrentPerOrgLongTxn Limit exceeded.' }],
  },
  ...ANYWHERE,
];

/** Scripts faults on reads and writes of both CRMs. Slow answers strike reads only: a late write would outlive its daemon. */
export function scriptFaults({ hubspot, salesforce }: Crms, random: Random, count: number): void {
  for (let made = 0; made < count; made++) {
    const [after, ms] = [random.int(0, 14), random.int(20, 300)];
    const slow: FaultAction = { kind: 'slow', ms };
    hubspot.fault({ match: 'POST .*/batch/(read|update)$', after, action: random.pick(HUBSPOT) });
    hubspot.fault({ match: 'POST .*/batch/read$', after, action: slow });
    salesforce.fault({ match: '(GET|POST|PATCH) /services/data/', after, action: random.pick(SALESFORCE) });
    salesforce.fault({ match: 'GET /services/data/', after, action: slow });
  }
}
