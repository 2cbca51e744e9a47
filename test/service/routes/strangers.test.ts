/** Random requests: none of them may cause an internal error. */
import { request } from 'node:http';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../support/all.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { openHarness } from './harness.ts';

const NAMES = ['entityId', 'ENTITYID', 'id', 'sendUpdate', 'take', 'continuationToken', '__proto__', 'x', ''];
const ODD = [
  'CVR-1-10000001',
  'CVR-3-1',
  '%00',
  '%',
  '%ZZ',
  '%ED%A0%80',
  '%FF%FE',
  'true',
  '-1',
  '1e400',
  '{}',
  '..',
  '%0d%0a',
];

const value = fc.oneof(
  fc.constantFrom(...ODD),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const pairs = fc.array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 5 });
const nearly = value.map((text): [string, string][] => [
  ['entityId', 'CVR-1-10000001'],
  ['id', text],
]);
const query = fc.oneof(pairs, nearly);

/** With the path as it is: `fetch` would tidy it. */
const status = (port: number, method: string, path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request({ port, method, path, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', reject).end();
  });

it.each(SUITE_ENGINES)('random requests are refused or answered normally, on %s', async (engine) => {
  const harness = await openHarness(engine, { requestsPerMinute: 100_000 });
  const { id, key } = await harness.key();
  const jobId = await harness.job(id, 'hubspot');
  const statuses = new Set<number>();
  const odd = fc.oneof(fc.constantFrom('HubSpot', ...ODD.filter((text) => text !== '..')), value);
  const place = fc.oneof({ arbitrary: fc.constantFrom('hubspot', jobId), weight: 3 }, { arbitrary: odd, weight: 1 });
  const asked = fc.record({ method: fc.constantFrom('POST', 'DELETE', 'GET'), place, query });
  await fc.assert(
    fc.asyncProperty(asked, async ({ method, place, query }) => {
      const path = method === 'GET' ? `${place}/items` : `thirdparty/${place}/items`;
      const search = query.map(([name, text]) => `${name}=${text}`).join('&');
      const answer = await status(harness.port, method, `/apps/monitoring/jobs/${path}?${search}`, {
        'x-access-key': key,
      });
      statuses.add(answer);
      expect([200, 204, 400, 404, 405, 414, 422]).toContain(answer);
    }),
    { numRuns: runs(400) },
  );
  expect(harness.logged).toEqual([]);
  for (const each of [204, 404, 422]) expect(statuses).toContain(each);
});
