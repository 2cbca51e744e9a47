/** A company that is monitored before it was read is requested, so that its next change is reported. */
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../../../src/app.ts';
import { serveRegister } from '../../../../src/commands/emulate/register.ts';
import { checkConfig } from '../../../../src/config/load.ts';
import { addItem } from '../../../../src/service/items/items.ts';
import { createMonitor } from '../../../../src/service/monitors/monitors.ts';
import { newStoreUrl } from '../../../support/stores.ts';

const PATIENT = { timeout: 120_000 };

/** A service that reads the register from now on only, and a monitor. */
async function fixture(companies = 3) {
  const register = await serveRegister({ companies });
  onTestFinished(() => register.close());
  const since = new Date(Date.now() + 3_600_000).toISOString();
  const service = {
    register: { ...register.settings, since, pollSeconds: 1, requestsPerSecond: 20 },
    webhooks: { allowPrivateAddresses: true },
  };
  const config = { server: { port: 0 }, store: await newStoreUrl('sqlite'), service };
  const loaded = await checkConfig(config, 'cvrsync.json', {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(1_000));
  const half = app.service;
  if (half === undefined) throw new Error('there is no service');
  await half.drained();
  const { id: monitor } = await app.store.write((tx) =>
    createMonitor(tx, { name: 'List', url: 'http://127.0.0.1:9/nobody' }, { secrets: half.secrets, now: Date.now() }),
  );
  const numbers = [...register.documents.virksomhed.keys()];
  return {
    register,
    app,
    numbers,
    add: (cvr: string) =>
      app.store.write((tx) =>
        addItem(tx, { monitor, entity: `CVR-1-${cvr}`, recordId: '', sendUpdate: false, now: Date.now() }),
      ),
    known: async () =>
      (await app.store.db.selectFrom('snapshot').select('entity').execute()).map(({ entity }) => entity.slice(6)),
    told: async () =>
      (await app.store.db.selectFrom('change').select(['entity', 'kind']).where('kind', '=', 'register').execute()).map(
        ({ entity }) => entity.slice(6),
      ),
    asked: async () => (await app.store.db.selectFrom('lane').selectAll().where('queue', '=', 'ask').execute()).length,
  };
}

describe('a company that is added to monitoring', () => {
  it('is requested if nothing is stored of it, and its next change is reported', async () => {
    const { register, numbers, add, known, told } = await fixture();
    const [first = ''] = numbers;
    await add(first);
    await expect.poll(known, PATIENT).toEqual([first]);
    expect(await told()).toEqual([]);
    // Later than what the service reads from on.
    const later = Date.now() + 2 * 3_600_000;
    for (let tries = 0; tries < 200; tries++) {
      const document = register.change(later + tries * 1_000);
      if (JSON.stringify(document).includes(`"cvrNummer":${first}`)) break;
    }
    await expect.poll(told, PATIENT).toContain(first);
  });

  it('is requested again after an answer without the shard that may hold it', async () => {
    const { register, numbers, add, known, asked } = await fixture(12);
    const lacking = numbers.find((number) => Number(number) % 6 === 0) ?? '';
    register.partial = 'shard';
    await add(lacking);
    const finds = () => register.calls.filter(({ path }) => path.includes('virksomhed')).length;
    const before = finds();
    await expect.poll(() => finds() - before, PATIENT).toBeGreaterThan(3);
    expect([await known(), await asked()]).toEqual([[], 1]);
    register.partial = undefined;
    await expect.poll(known, PATIENT).toEqual([lacking]);
  });

  it('is requested again after an outage, and waits if the register does not know it', async () => {
    const { register, numbers, add, known, asked } = await fixture();
    const [first = '', second = ''] = numbers;
    register.fault({ match: 'virksomhed', times: 1, action: { kind: 'status', status: 503 } });
    await add(first);
    await add('99000001');
    await expect.poll(known, PATIENT).toEqual([first]);
    await expect.poll(asked, PATIENT).toBe(0);
    await add(second);
    await expect.poll(async () => (await known()).toSorted(), PATIENT).toEqual([first, second].toSorted());
  });
});
