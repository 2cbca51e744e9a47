/** Sessions: three flows, expiry, rotation, and every way a refresh may go wrong. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../../providers/provider.ts';
import { toLongId } from '../../../../providers/salesforce/client/ids.ts';
import { type Bench, live, openBench, paths } from '../setup.ts';

const TOKEN = 'POST /services/oauth2/token';
const tokenCalls = (bench: Bench) => paths(bench.requests).filter((path) => path === TOKEN).length;

async function fault(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}

describe('a session of Salesforce', () => {
  it.each(['client-credentials', 'jwt-bearer', 'refresh-token'] as const)(
    'is fetched by %s when first needed',
    async (flow) => {
      const bench = await openBench({ flow });
      expect(bench.requests.length).toBe(0);
      const account = await bench.connection.check(live());
      expect(account).toMatchObject({ id: toLongId('00DQy00000Emu1A'), name: 'Emulated Org' });
      expect(account.notes.join()).toMatch(/Enterprise.*of 100000/);
      expect(tokenCalls(bench)).toBe(1);
    },
  );

  it('is fetched outside the budget of API calls', async () => {
    const bench = await openBench();
    await bench.connection.check(live());
    expect(bench.requests.map((request) => request.budget)).toEqual(['none', undefined]);
  });

  it('is renewed once for twenty calls that were refused together', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ Name: 'Birk ApS' });
    await bench.connection.properties(live());
    bench.emulator.expireSessions();
    bench.clock.now += 7_200_000;
    const reads = await Promise.all(Array.from({ length: 20 }, () => bench.connection.read([id], ['Name'], live())));
    expect(reads.every(([read]) => read?.kind === 'found')).toBe(true);
    expect(tokenCalls(bench)).toBe(2);
  });

  it('that is refused for ever ends in an auth fault, not in a loop', async () => {
    const bench = await openBench();
    await bench.connection.properties(live());
    bench.clock.now += 60_000;
    bench.emulator.refuseSessions(true);
    const works = Array.from({ length: 10 }, () => fault(bench.connection.properties(live())));
    for (const error of await Promise.all(works)) expect(error.fault).toBe('auth');
    expect((await fault(bench.connection.properties(live()))).message).toMatch(/user is active/);
    expect(tokenCalls(bench)).toBe(2);
    bench.emulator.refuseSessions(false);
    expect((await bench.connection.properties(live())).length).toBeGreaterThan(20);
  });

  it('follows the org to another instance', async () => {
    const bench = await openBench();
    await bench.connection.properties(live());
    bench.clock.now += 60_000;
    bench.emulator.move();
    expect((await bench.connection.properties(live())).length).toBeGreaterThan(20);
    expect(paths(bench.requests).at(-1)).toMatch(/^GET \/moved-1\/services/);
    expect(tokenCalls(bench)).toBe(2);
  });

  it('of another org is refused and never used', async () => {
    const bench = await openBench();
    await bench.connection.properties(live());
    bench.clock.now += 60_000;
    bench.emulator.answerForOrganization('00DQy00000Other');
    bench.emulator.expireSessions();
    const before = bench.requests.length;
    expect((await fault(bench.connection.properties(live()))).message).toMatch(/00DQy00000Other/);
    expect(paths(bench.requests.slice(before)).at(-1)).toBe(TOKEN);
  });

  it('of another org than the configured one is refused at once', async () => {
    const bench = await openBench({}, { organizationId: '00DQy00000Other' });
    expect((await fault(bench.connection.check(live()))).fault).toBe('auth');
    expect(paths(bench.requests)).toEqual([TOKEN]);
  });

  it('is never sent to a host that is not of Salesforce', async () => {
    const bench = await openBench();
    const body = {
      access_token: 'x',
      instance_url: 'https://evil.example/x.salesforce.com',
      id: 'https://a/id/00DQy00000Emu1A/005Qy000000Us1A',
    };
    bench.emulator.fault({ match: TOKEN, action: { kind: 'status', status: 200, body } });
    const error = await fault(bench.connection.check(live()));
    expect([error.fault, error.message]).toEqual(['auth', expect.stringContaining('evil.example')]);
    expect(paths(bench.requests)).toEqual([TOKEN]);
  });

  it('that cannot be fetched because of credentials is an auth fault that says what to do', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    bench.emulator.revoke();
    const error = await fault(bench.connection.check(live()));
    expect([error.fault, error.message]).toEqual(['auth', expect.stringMatching(/authorize the app again/)]);
    const other = await bench.connect({
      auth: { flow: 'client-credentials', clientId: 'other', clientSecret: 'other-secret' },
    });
    bench.emulator.reinstate();
    const wrong = await fault(other.check(live()));
    expect([wrong.fault, wrong.message]).toEqual(['auth', expect.stringMatching(/check clientId/)]);
  });

  it.each<[string, { status: number; body?: unknown }]>([
    ['a 503 in HTML', { status: 503, body: '<html>maintenance</html>' }],
    ['an empty 200', { status: 200 }],
    ['a 200 without a token', { status: 200, body: {} }],
  ])('is unavailable after %s, and is fetched with the next call', async (_label, answer) => {
    const bench = await openBench();
    bench.emulator.fault({ match: TOKEN, action: { kind: 'status', ...answer } });
    expect((await fault(bench.connection.check(live()))).fault).toBe('unavailable');
    expect((await bench.connection.check(live())).name).toBe('Emulated Org');
  });

  it('whose refresh fails also fails every call that waits for it, and blocks none', async () => {
    const bench = await openBench();
    await bench.connection.properties(live());
    bench.clock.now += 60_000;
    bench.emulator.expireSessions();
    bench.emulator.fault({ match: TOKEN, action: { kind: 'reset' } });
    const errors = await Promise.all([1, 2, 3].map(() => fault(bench.connection.properties(live()))));
    expect(errors.map((error) => error.fault)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect((await bench.connection.properties(live())).length).toBeGreaterThan(20);
  });

  it('lets one caller stop without ending the refresh for the others', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    bench.emulator.fault({ match: TOKEN, action: { kind: 'slow', ms: 60 } });
    const stop = new AbortController();
    const reason = new Error('stopping');
    const first = bench.connection.check(stop.signal);
    const second = bench.connection.check(live());
    stop.abort(reason);
    await expect(first).rejects.toBe(reason);
    expect((await second).name).toBe('Emulated Org');
    expect(tokenCalls(bench)).toBe(1);
    expect([...bench.kept.values()]).toEqual(['5Aep861.emulator.refresh.1']);
  });
});

describe('a refresh token that rotates', () => {
  it('is stored before the session is used, and survives a restart', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    bench.emulator.fault({ match: 'GET .*', action: { kind: 'reset' } });
    await fault(bench.connection.check(live()));
    expect([...bench.kept.values()]).toEqual(['5Aep861.emulator.refresh.1']);
    for (let restart = 2; restart < 5; restart += 1) {
      const again = await bench.connect();
      expect((await again.check(live())).name).toBe('Emulated Org');
      expect([...bench.kept.values()]).toEqual([`5Aep861.emulator.refresh.${restart}`]);
    }
  });

  it('is renewed again and again by one process', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    for (let hour = 0; hour < 4; hour += 1) {
      expect((await bench.connection.properties(live())).length).toBeGreaterThan(20);
      bench.emulator.expireSessions();
      bench.clock.now += 7_200_000;
    }
    expect(tokenCalls(bench)).toBe(4);
  });

  it('by a second connection with the same credentials stays in force for the first', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    const atWork = bench.connection;
    expect((await atWork.check(live())).name).toBe('Emulated Org');
    const trial = await bench.connect();
    expect((await trial.check(live())).name).toBe('Emulated Org');
    bench.emulator.expireSessions();
    bench.clock.now += 7_200_000;
    expect((await atWork.check(live())).name).toBe('Emulated Org');
  });

  it('whose answer was lost is an auth fault that asks for a new one', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    bench.emulator.fault({ match: TOKEN, action: { kind: 'cut', applied: true } });
    expect((await fault(bench.connection.check(live()))).fault).toBe('unavailable');
    const error = await fault(bench.connection.check(live()));
    expect([error.fault, error.message]).toEqual([
      'auth',
      expect.stringMatching(/put the new one in auth\.refreshToken/),
    ]);
  });

  it('that is new in the configuration takes precedence over the stored one', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    await bench.connection.check(live());
    const auth = { ...(bench.emulator.settings.auth ?? {}), refreshToken: 'a-new-token-from-the-admin' };
    const other = await bench.connect({ auth });
    await fault(other.check(live()));
    expect(bench.requests.at(-1)?.body).toContain('refresh_token=a-new-token-from-the-admin');
  });

  it('that cannot be stored stops the connection', async () => {
    const bench = await openBench({ flow: 'refresh-token' });
    bench.kept.set = () => {
      throw new Error('disk full');
    };
    const error = await fault(bench.connection.check(live()));
    expect([error.fault, error.message]).toEqual(['unavailable', expect.stringMatching(/could not be stored/)]);
    expect(paths(bench.requests)).toEqual([TOKEN]);
  });
});
