/** The pages of the service half in a real browser: nothing reported, nothing too wide, no rule of accessibility broken. */
import { expect, it } from 'vitest';
import { listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { delivering, openHook } from '../service/delivering.ts';
import { changed, made } from '../service/monitored.ts';
import { LOOKS, useBrowser } from './browser.ts';
import { startPages } from './visitor.ts';

const { open } = useBrowser();

it('the pages of deliveries are sound, and one is sent again, in every look', async () => {
  const { base, operator, store } = await startPages();
  const hook = await openHook((response) => void response.writeHead(500).end(`no ${'x'.repeat(900)}`));
  const { id } = await made(store, { url: hook.url, target: 'all' });
  const { publish, worker } = delivering(store);
  await publish(changed({ name: `Havblik ${'Handel'.repeat(20)} ApS` }));
  await worker.drained();
  const seq = (await listDeliveries(store.db))[0]?.seq ?? 0;
  const token = await operator('Ida', 'operator');
  for (const look of LOOKS) {
    await store.write((tx) => tx.updateTable('delivery').set({ state: 'failed' }).execute());
    const { page, expectSound } = await open(look);
    await page.goto(`${base}/login`);
    await page.fill('#token', token);
    await page.click('button.primary');
    await page.waitForURL(`${base}/`);
    for (const path of [
      '/deliveries',
      `/deliveries?monitor=${id}`,
      `/deliveries/replay?monitor=${id}`,
      `/deliveries/${seq}`,
    ]) {
      await page.goto(base + path);
      await expectSound();
    }
    // The page that it leads to is the same one: only a navigation tells them apart.
    await Promise.all([page.waitForNavigation(), page.click('main form button')]);
    await expect.poll(async () => (await listDeliveries(store.db))[0]?.state).toBe('failing');
    await expectSound();
  }
});
