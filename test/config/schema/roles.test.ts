import { describe, expect, it } from 'vitest';
import { connectorWith, problemsOf } from '../../support/config.ts';

const POSTGRES = { store: 'postgres://cvrsync@localhost/cvrsync' };
const SERVICE = { service: { register: { source: 'file', path: 'register' } } };
const UPSTREAM = { baseUrl: 'https://service.example.com', accessKey: 'key' };
const BOTH = { ...connectorWith(), ...SERVICE, ...POSTGRES };
const REACHED = { server: { publicUrl: 'https://cvrsync.example.com' } };

describe('the roles of a daemon', () => {
  it.each([
    ['all that its half needs', { ...connectorWith(), roles: ['sync', 'ingest'] }],
    ['one that takes webhooks', { ...BOTH, roles: ['ingest'] }],
    ['a service that takes the webhooks that it sends', { ...BOTH, roles: ['service', 'ingest'] }],
    ['one that writes, behind an address', { ...BOTH, ...REACHED, roles: ['sync'] }],
    [
      'one that writes, with a service elsewhere',
      { ...connectorWith({ upstream: UPSTREAM }), ...SERVICE, ...POSTGRES, roles: ['sync'] },
    ],
  ])('may be: %s', async (_what, config) => {
    expect(await problemsOf(config)).toEqual([]);
  });

  it.each([
    [
      'on SQLite, where one daemon does all',
      { ...connectorWith(), roles: ['sync'] },
      'roles must have ingest too: one daemon does all on SQLite',
    ],
    [
      'of a half that is not there',
      { ...connectorWith(), ...POSTGRES, roles: ['service'] },
      'roles leave nothing to do: this configuration needs ingest, sync',
    ],
    [
      'that call a service in another daemon at no address',
      { ...BOTH, roles: ['sync', 'ingest'] },
      'server.publicUrl is missing: this daemon reaches those with other roles there',
    ],
    [
      'that tell a connector in another daemon at no address',
      { ...BOTH, roles: ['service'] },
      'server.publicUrl is missing: this daemon reaches those with other roles there',
    ],
    [
      'that nobody knows',
      { ...BOTH, roles: ['ingets'] },
      'roles.0 should be one of ingest, sync, service; did you mean ingest?',
    ],
    ['none', { ...BOTH, roles: [] }, 'roles'],
  ])('may not be: %s', async (_what, config, line) => {
    expect(await problemsOf(config)).toEqual([expect.stringContaining(line)]);
  });
});
