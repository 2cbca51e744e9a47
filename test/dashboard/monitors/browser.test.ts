/** The pages of monitors in a real browser, worked with the mouse, with and without scripts. */
import { expect, it } from 'vitest';
import { findKey, listKeys } from '../../../src/service/keys/keys.ts';
import { getMonitor, listMonitors } from '../../../src/service/monitors/monitors.ts';
import { openHook } from '../../service/delivering.ts';
import { secrets } from '../../service/monitored.ts';
import { ALL } from '../../support/all.ts';
import { signIn, useBrowser } from '../browser.ts';
import { startPages } from '../visitor.ts';

const { open } = useBrowser();

// Without scripts by night: the forms are the same.
it.each(ALL ? [true, false] : [true])(
  'a monitor is created, edited, tested, rotated and deleted; scripts: %s',
  async (script) => {
    const { base, operator, store } = await startPages();
    const hook = await openHook();
    const token = await operator('Ida', 'admin');
    const { page, expectSound } = await open({ script });
    await signIn(page, base, token);
    await page.goto(`${base}/monitors/new`);
    await page.fill('#name', 'Sales');
    await page.fill('#url', hook.url);
    await page.check('#scope-chosen');
    await page.click('summary >> text=Choose events');
    await page.check('#event-status');
    await page.click('button.primary');
    const secret = await page.textContent('.secret');
    await expectSound();
    const [monitor] = await listMonitors(store.db, secrets);
    expect(monitor).toMatchObject({ name: 'Sales', events: ['status'], url: hook.url });
    expect(monitor?.security.secrets[0]?.secret).toBe(secret);
    const id = monitor?.id ?? '';
    await page.click('text=To the monitor');
    await page.click('text=Edit');
    await page.fill('#name', 'Sales, north');
    await page.click('button.primary');
    expect(await page.textContent('h1')).toBe('Sales, north');
    await page.click('text=Send a test');
    await page.click('button.primary');
    await page.waitForSelector('text=The webhook took it');
    expect(hook.seen).toHaveLength(1);
    await expectSound();
    await page.click('text=To the monitor');
    await page.click('text=Rotate the secret');
    await page.click('button.primary');
    expect(await page.textContent('.secret')).toBe(
      (await getMonitor(store.db, secrets, id))?.security.secrets[0]?.secret,
    );
    await page.click('text=To the monitor');
    await page.click('text=Delete');
    await page.click('button.primary');
    await page.waitForURL(`${base}/monitors`);
    expect(await listMonitors(store.db, secrets)).toEqual([]);
    await expectSound();
  },
);

it('a form is sent once, even if it is clicked repeatedly, and can be sent again after a return to it', async () => {
  const { base, operator, store } = await startPages();
  const token = await operator('Ida', 'admin');
  const { page } = await open();
  await signIn(page, base, token);
  await page.goto(`${base}/keys`);
  const create = async (name: string): Promise<string | null> => {
    await page.fill('#name', name);
    // The browser would send the later ones and drop the answer to the first, which shows the key.
    const prevented = await page.evaluate(`(() => {
      const submit = () => document.querySelector('main form').dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }));
      return [submit(), submit(), submit()].map((isSent) => !isSent);
    })()`);
    expect(prevented).toEqual([false, true, true]);
    await page.reload();
    await page.fill('#name', name);
    await page.click('button.primary');
    return page.textContent('.secret');
  };
  for (const name of ['one', 'two']) {
    expect((await findKey(store.db, (await create(name)) ?? ''))?.scopes).toContain('monitoring');
    await page.goBack();
  }
  expect((await listKeys(store.db)).map(({ name }) => name)).toEqual(['one', 'two']);
}, 60_000);
