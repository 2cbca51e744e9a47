/** Missing authentication, and secrets without encryption: the warnings of check and of the start of the daemon. */
import { describe, expect, it } from 'vitest';
import { configWarnings } from '../../src/config/warnings.ts';
import { isLoopback } from '../../src/http/server/networks.ts';
import { checked, connectorWith } from '../support/config.ts';

const LONG = 'a-secret-of-32-letters-or-so-yes';
const header = (value: string) => ({ method: 'Header', key: 'X-Key', value });

const warned = async (value: object): Promise<string[]> =>
  configWarnings((await checked(value)).config, isLoopback).map(({ subject, found }) => `${subject} ${found}`);
const withAuth = (auth: unknown, server: object = {}) => warned({ server, ...connectorWith({ webhook: { auth } }) });

describe('warnings about the webhook', () => {
  it('name auth: None on a public address, and on no other', async () => {
    const none = { method: 'None' };
    expect(await withAuth(none)).toEqual([]);
    for (const server of [{ host: '0.0.0.0' }, { host: '10.1.2.3' }, { publicUrl: 'https://sync.example.com' }])
      expect(await withAuth(none, server)).toEqual([expect.stringMatching(/^connector\.webhook\.auth None: /)]);
    expect(await withAuth([header(LONG), none], { host: '::' })).toHaveLength(1);
  });

  it('name webhook secrets shorter than 16 characters, without the secret', async () => {
    const short = await withAuth([header('sesame-15-chars'), { method: 'BasicAuth', key: 'user', value: 'sesame' }]);
    expect(short).toHaveLength(2);
    expect(short.join()).toContain('fewer than 16 characters');
    expect(short.join()).not.toContain('sesame');
    expect(await withAuth([header('sesame-16-chars!'), { method: 'BasicAuth', key: 'user', value: LONG }])).toEqual([]);
  });
});

describe('warnings about plain http', () => {
  it("name what travels unencrypted by the register's default, and to a service elsewhere", async () => {
    const register = { source: 'cvr', username: 'u', password: 'p' };
    expect(await warned({ service: { register } })).toEqual([
      'service.register.baseUrl plain http: user name, password and what the register answers travel in the clear',
    ]);
    expect(await warned({ service: { register: { ...register, baseUrl: 'https://register.example.com' } } })).toEqual(
      [],
    );
    const signOn = (issuer: string) => {
      const oidc = { issuer, clientId: 'c', clientSecret: LONG, roles: { viewer: ['crm'] } };
      return warned({ ...connectorWith(), admin: { publicUrl: 'https://cvrsync.example.com', oidc } });
    };
    expect(await signOn('http://login.example.com')).toEqual([
      expect.stringMatching(/^admin\.oidc\.issuer plain http/),
    ]);
    expect(await signOn('http://127.0.0.1:3000')).toEqual([]);
    const upstream = (baseUrl: string) => warned(connectorWith({ upstream: { baseUrl, accessKey: 'k' } }));
    expect(await upstream('http://service.example.com')).toEqual([expect.stringContaining('the access key travel')]);
    for (const url of ['https://service.example.com', 'http://127.0.0.1:8080', 'http://[::1]:80', 'http://localhost'])
      expect(await upstream(url)).toEqual([]);
  });
});
