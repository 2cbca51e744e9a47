/** What `check` says of a connection whose provider is faulty: the advice is for whoever can mend it. */
import { expect, it, onTestFinished } from 'vitest';
import { type Connection, type Provider, ProviderError } from '../../providers/provider.ts';
import { checkCredentials } from '../../src/connector/check.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { newStore } from '../support/stores.ts';
import { toySettings } from '../support/toy-crm.ts';
import { raw } from './crm/sound-connection.ts';

const SOUND: Connection = {
  check: raw({ id: '7', name: 'Seven', notes: [] }),
  properties: raw([]),
  read: raw([]),
  update: raw([]),
  scan: raw({ records: [] }),
};

/** The findings that are failures, each with its advice. */
async function failures(broken: Partial<Connection>, connect?: Provider['connect']): Promise<readonly string[]> {
  const client = openClient();
  onTestFinished(client.close);
  const config = toySettings(
    { connect: connect ?? raw({ ...SOUND, ...broken }) },
    { name: 'odd', mask: (text) => text.replaceAll('hemmelig', '***') },
  );
  const deps = { store: await newStore('sqlite'), http: client.http, metrics: createMetrics(), now: Date.now };
  const findings = await checkCredentials(deps, config, new AbortController().signal);
  return findings.flatMap(({ level, found, advice }) => (level === 'fail' ? [`${found} | ${advice}`] : []));
}

const REPORT = 'no setting fixes this: report it to the author of the provider';

it('finds nothing to fix in a sound connection', async () => {
  expect(await failures({})).toEqual([]);
});

it.each<readonly [string, Partial<Connection>, string]>([
  ['an answer of another shape', { check: raw(undefined) }, 'odd: its check gave nothing in place of an account'],
  [
    'a verb that fails',
    { check: () => Promise.reject(new TypeError('x is undefined')) },
    'odd: its check failed, which is a bug of the provider: x is undefined',
  ],
  [
    'a connection without a verb',
    { scan: undefined as never },
    'connector.providers.odd: its provider gives the connection with nothing as scan: it is a function; report it to its author',
  ],
])('sends a bug of the provider to its author, and nobody to look at the network: %s', async (_what, broken, found) => {
  expect(await failures(broken)).toEqual([`${found} | ${REPORT}`]);
});

it('advises to check the network if there is no answer', async () => {
  const check = () => Promise.reject(new ProviderError('unavailable', 'no answer'));
  expect(await failures({ check })).toEqual([expect.stringMatching(/^no answer \| check the address/u)]);
});

it('says why a provider could not connect, without its secrets', async () => {
  expect(await failures({}, () => Promise.reject(new Error('key hemmelig has expired')))).toEqual([
    'connector.providers.odd: its provider could not connect: key *** has expired | look at connector.providers.odd',
  ]);
});
