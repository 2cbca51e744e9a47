import { expect, it, onTestFinished } from 'vitest';
import { conditionsOf } from '../../src/alerts/conditions.ts';
import { observe } from '../../src/alerts/observe.ts';
import { serveDatafordeler } from '../../src/commands/emulate/datafordeler/datafordeler.ts';
import { checkConfig } from '../../src/config/load.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { checkRegisters } from '../../src/service/check-register.ts';
import { storeKeyEnd } from '../../src/service/key-end.ts';
import { newStore } from '../support/stores.ts';

const NOW = Date.parse('2028-11-01T12:00:00Z');

/** The settings that a configuration stands for, or what is wrong with it. */
async function read(register: object) {
  const load = await checkConfig({ service: { register } }, '/etc/cvrsync.yaml', {});
  if (!load.ok) return load.errors.map(({ path, message }) => `${path} ${message}`);
  const { register: settings } = load.config.service ?? {};
  if (settings === undefined || Array.isArray(settings) || settings.source !== 'datafordeler') return [];
  return settings;
}

async function checking(more: object = {}) {
  const emulator = await serveDatafordeler({ companies: 0 });
  onTestFinished(() => emulator.close());
  const { http, close } = openClient();
  onTestFinished(close);
  const store = await newStore('sqlite');
  const register = await read({ ...emulator.settings, requestsPerSecond: 20, ...more });
  if (!('source' in register)) throw new Error(register.join());
  const began = Date.now();
  const deps = { store, http, now: () => NOW + Date.now() - began };
  const found = async () => {
    const findings = await checkRegisters(deps, { register }, new AbortController().signal);
    return findings.map(({ level, found }) => `${level} ${found}`);
  };
  return { emulator, store, register, found };
}

it('check: says that the feed answers, and which entity does not', async () => {
  const { emulator, found } = await checking();
  expect(await found()).toEqual([`ok ${emulator.url} gives the feed of changes`]);
  emulator.fault({ match: 'CVR/v2', body: 'CVR_Navn', times: 'always', action: { kind: 'status', status: 403 } });
  expect(await found()).toEqual([
    `ok ${emulator.url} gives the feed of changes`,
    'warn Datafordeler refuses CVR_Navn (403): unknown are name, altNames',
  ]);
});

it('check: says that the key is refused, without the key', async () => {
  const { found } = await checking({ apiKey: 'another-key-of-somebody' });
  const [line = ''] = await found();
  expect(line).toMatch(/^fail Datafordeler refuses DAF_RegisterImportStatus \(401\): check service\.register\.apiKey/);
  expect(line).not.toContain('another-key');
});

it.each([
  ['2028-12-20', []],
  ['2028-11-20', ['warn the credentials of Datafordeler end on 2028-11-20']],
  ['2028-10-31', ['fail the credentials of Datafordeler ended on 2028-10-31']],
])('check and alerts: a key that ends on %s', async (apiKeyEnds, expected) => {
  const { store, register, found } = await checking({ apiKeyEnds });
  expect((await found()).filter((line) => line.includes('credentials'))).toEqual(expected);
  await store.write((tx) => storeKeyEnd(tx, [register], NOW));
  const conditions = async () =>
    conditionsOf(await observe(store, NOW, 10), { reviewOver: 10, registerBehindMinutes: 60 }, NOW)
      .filter(({ key }) => key === 'register:key')
      .map(({ what }) => what);
  expect(await conditions()).toHaveLength(expected.length);
  await store.write((tx) => storeKeyEnd(tx, [], NOW));
  expect(await conditions()).toEqual([]);
});

it.each([
  [{}, 'service.register.apiKey is missing: give the key, or oauth'],
  [
    { apiKey: 'k', oauth: { clientId: 'c', clientSecret: 's' } },
    'service.register.oauth stands beside apiKey: give one of them',
  ],
  [{ oauth: { clientId: 'c' } }, 'service.register.oauth needs clientSecret, or certificate and certificateKey'],
  [
    { oauth: { clientId: 'c', certificate: 'pem' } },
    'service.register.oauth.certificate needs certificateKey, and the other way round',
  ],
])('the configuration: %j is refused', async (given, problem) => {
  expect(await read({ source: 'datafordeler', ...given })).toEqual([problem]);
});
