/** The pages of the register and the installation in a real browser: sound in every look, with and without scripts. */
import { expect, it } from 'vitest';
import { createOperator } from '../../../src/runtime/operators/operators.ts';
import { LOOKS, signIn, useBrowser } from '../browser.ts';
import { adminAt } from '../visitor.ts';
import { startService } from './service.ts';

const { open } = useBrowser();
const PATIENT = { timeout: 120_000, interval: 50 };

it('the pages are sound in every look, and a company is fetched', async () => {
  const { app, numbers } = await startService();
  const here = await adminAt(app.adminUrl, app.store);
  const known = () => app.store.db.selectFrom('snapshot').select('entity').execute();
  await expect.poll(async () => (await known()).length, PATIENT).toBeGreaterThanOrEqual(numbers.length);
  await expect
    .poll(async () => (await here.get('/register')).text.match(/production units(?!.*never)/s), PATIENT)
    .not.toBeNull();
  const token = (await app.store.write((tx) => createOperator(tx, { name: 'Ida', role: 'admin' }, Date.now()))) ?? '';
  const [number = ''] = numbers;
  for (const look of LOOKS) {
    const { page, expectSound } = await open(look);
    await signIn(page, app.adminUrl, token);
    for (const path of ['/register', `/register?company=${number}`, '/installation']) {
      await page.goto(app.adminUrl + path);
      await expectSound();
    }
    await page.goto(`${app.adminUrl}/register`);
    await page.fill('#company', number);
    await page.click('main form button');
    await page.waitForURL(`**/register?company=CVR-1-${number}#fetch`);
    expect(await page.textContent('#fetch')).toMatch(/waiting|venter|Loaded by|Indlæst af/);
    await expectSound();
    await page.goto(`${app.adminUrl}/installation`);
    await page.click('main form button');
    await page.waitForSelector('text=/gives documents|giver dokumenter/');
    await expectSound();
  }
});
