import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serveDatafordeler } from '../../src/commands/emulate/datafordeler/datafordeler.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { configOf } from '../../src/setup/config-of.ts';
import { draftOf } from '../../src/setup/file-draft.ts';
import { readSource, trySource } from '../../src/setup/trials/try-source.ts';
import { newFolder, newStore } from '../support/stores.ts';

it('the set-up writes a key of Datafordeler as a file, and finds the answer in the configuration again', async () => {
  const folder = newFolder();
  const place = { file: join(folder, 'cvrsync.yaml'), samples: 'samples', admin: {}, server: {} };
  await mkdir(join(folder, 'secrets'), { recursive: true });
  await writeFile(join(folder, 'secrets/key'), 'a-key-of-datafordeler\n');
  const changes = { source: 'datafordeler', apiKey_FILE: 'secrets/key', apiKeyEnds: '2028-11-30' };
  const written = configOf({ connections: {}, source: { changes } }, place);
  expect(written).toMatchObject({ service: { register: changes } });
  expect(draftOf(written, place)?.source).toEqual({ changes });
  const { settings, problems } = readSource({ changes }, { place, env: {} });
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ source: 'datafordeler', apiKey: 'a-key-of-datafordeler' });
  const wrong = readSource({ changes: { ...changes, apiKeyEnds: 'next year' } }, { place, env: {} });
  expect(wrong.problems).toHaveLength(1);
});

const NOW = Date.parse('2028-11-01T12:00:00Z');
const READS = /^ok .* gives the feed of changes$/;

it.each([
  ['the right key', {}, undefined, [READS]],
  ['a wrong key', { apiKey: 'another-key' }, undefined, [/^fail Datafordeler refuses .* \(401\): check .*apiKey/]],
  [
    'a key that ended',
    { apiKey: 'a-key-of-last-year', apiKeyEnds: '2028-10-31' },
    undefined,
    [/^fail Datafordeler refuses .* \(401\): .* when the key ends$/],
  ],
  [
    'a key that ends soon',
    { apiKeyEnds: '2028-11-20' },
    undefined,
    [READS, /^warn the credentials .* end on 2028-11-20$/],
  ],
  // Nobody is asked for persons: a key never gets them.
  ['a key without persons', {}, { body: 'CVRPerson', action: { kind: 'status', status: 403 } }, [READS]],
  [
    'a key without one table',
    {},
    { body: 'CVR_Navn\\(', action: { kind: 'status', status: 403 } },
    [READS, /^warn Datafordeler refuses CVR_Navn \(403\): unknown are name, altNames$/],
  ],
  ['an answer that takes long', {}, { body: 'CVR_Branche', action: { kind: 'slow', ms: 60_000 } }, undefined],
] as const)('the live check of the set-up, with %s', async (_, changes, fault, expected) => {
  const emulator = await serveDatafordeler({ companies: 0 });
  onTestFinished(() => emulator.close());
  if (fault !== undefined) emulator.fault({ match: 'CVR/v2', times: 'always', ...fault });
  const { http, close } = openClient();
  onTestFinished(close);
  const began = Date.now();
  const now = () => NOW + Date.now() - began;
  const deps = { store: await newStore('sqlite'), http, metrics: createMetrics(), now };
  const reading = { settings: { ...emulator.settings, ...changes }, problems: [] };
  const place = { file: join(newFolder(), 'cvrsync.yaml'), samples: 'samples', admin: {}, server: {} };
  let findings = await trySource(deps, reading, [], place);
  // A page waits for some seconds: a busy machine takes more than one try.
  for (let tries = 0; expected !== undefined && findings === undefined && tries < 20; tries++)
    findings = await trySource(deps, reading, [], place);
  const said = findings?.map(({ level, found }) => `${level} ${found}`);
  expect(said?.length).toBe(expected?.length);
  for (const [at, each] of (expected ?? []).entries()) expect(said?.[at]).toMatch(each);
  expect(JSON.stringify(findings ?? [])).not.toMatch(/another-key|a-key-of|emulated-/);
});
