/** The whole path to an API of one's own, from the webhook to the message it gets. */
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startHttpEmulator } from '../../../providers/kit/http/emulator.ts';
import { startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { ENTITY, renamed, reported } from '../../faults/company.ts';
import { handClock } from '../../support/clock.ts';
import { lanesBehind, postWebhook } from '../../support/fixture.ts';
import { newFolder, newStoreUrl } from '../../support/stores.ts';

/** A daemon with an API, and one linked company of it. */
async function fixture(options: { readonly blind: boolean }) {
  const api = await startHttpEmulator(options);
  onTestFinished(() => api.close());
  const providers = {
    api: { use: 'http', ...api.settings, pollMinutes: 0, reconcileHours: 0, fields: { email: false } },
  };
  const connector = { webhook: { auth: { method: 'None' } }, providers };
  const store = await newStoreUrl('sqlite');
  const loaded = await checkConfig({ server: { port: 0 }, store, connector }, join(newFolder(), 'sync.json'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const clock = handClock();
  const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {}, now: clock.now });
  onTestFinished(() => app.close(0));
  const id = api.add({ name: 'A ApS', cvr: ENTITY.slice('CVR-1-'.length) });
  await app.store.write((tx) =>
    linkRecord(tx, { provider: 'api', recordId: id, entity: ENTITY, sendUpdate: false, now: clock.now() }),
  );
  const tell = async (event: Parameters<typeof postWebhook>[1]) => {
    expect(await postWebhook(`${app.url}/webhook`, event)).toBe(204);
    await expect
      .poll(
        () => {
          clock.forward(1_000);
          return lanesBehind(app.store);
        },
        { timeout: 120_000, interval: 20 },
      )
      .toEqual([]);
  };
  const sent = () => api.calls.filter(({ method }) => method === 'POST').length;
  return { api, app, id, tell, sent };
}

test.each([
  ['that can be read', false],
  ['that tells nothing', true],
])('an API %s gets what changed, once, and only the fields that are mapped', async (_what, blind) => {
  const { api, id, tell, sent } = await fixture({ blind });
  await tell(renamed('A ApS', 'B ApS'));
  expect(api.get(id)).toMatchObject({ name: 'B ApS' });
  const before = sent();
  await tell(renamed('A ApS', 'B ApS'));
  expect(sent()).toBe(before);
  await tell(reported({ email: { before: null, after: 'post@example.com' } }, 9));
  expect(sent()).toBe(before);
  await tell(renamed('B ApS', 'C ApS', 10));
  expect(api.get(id)).toMatchObject({ name: 'C ApS' });
  expect(api.get(id)).not.toHaveProperty('email');
});

test('an API that can be read keeps an edit of a person', async () => {
  const { api, id, tell } = await fixture({ blind: false });
  await tell(renamed('A ApS', 'B ApS'));
  api.edit(id, { name: 'B (our best customer)' });
  await tell(renamed('B ApS', 'C ApS', 9));
  expect(api.get(id)).toMatchObject({ name: 'B (our best customer)' });
});

test('a company that is deleted there loses its link', async () => {
  const { api, app, id, tell } = await fixture({ blind: true });
  api.remove(id);
  await tell(renamed('A ApS', 'B ApS'));
  const [link] = await app.store.db.selectFrom('link').select('state').where('record_id', '=', id).execute();
  expect(link?.state).toBe('gone');
});
