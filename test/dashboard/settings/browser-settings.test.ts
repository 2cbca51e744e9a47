/** Settings in a real Chromium: sound everywhere, redrawn while somebody types, and whole without script. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createOperator } from '../../../src/runtime/operators/operators.ts';
import { LOOKS, signIn, useBrowser } from '../browser.ts';
import { type EditedDaemon, startEdited } from './daemon.ts';

const { open } = useBrowser();
const PAGE = '/settings/mapping/hubspot';

async function linked(): Promise<EditedDaemon & { readonly token: string }> {
  const daemon = await startEdited();
  await daemon.addLinked('hubspot', 1, { name: 'Kunde 1', phone: '12345678' });
  await daemon.settled();
  const token =
    (await daemon.app.store.write((tx) => createOperator(tx, { name: 'Ida', role: 'admin' }, Date.now()))) ?? '';
  return { ...daemon, token };
}

it('every page is sound in both themes and languages, from 320 px', async () => {
  const { app, token } = await linked();
  for (const look of [...LOOKS.slice(0, 2), { width: 320, language: 'da-DK', isAudited: false }]) {
    const { page, expectSound } = await open(look);
    await signIn(page, app.adminUrl, token);
    for (const path of ['/settings', PAGE, '/settings/crm/hubspot', '/settings/number/hubspot', '/settings/changes']) {
      await page.goto(`${app.adminUrl}${path}`);
      await expectSound();
    }
    await page.goto(`${app.adminUrl}${PAGE}`);
    await page.click('button[value="open:0"]');
    await page.waitForSelector('#details');
    await expectSound();
  }
});

it('redraws the record when a row changes, and does not touch the focused field', async () => {
  const { app, token, text } = await linked();
  const { page, expectSound } = await open();
  await signIn(page, app.adminUrl, token);
  await page.click('nav a[href="/settings"]');
  await page.click(`a[href="${PAGE}"]`);
  await page.waitForSelector('#effect tr');
  const cut =
    "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#effect .scroll'))";
  expect(await page.evaluate(cut)).toBe(0);
  const name = page.locator('tr', { has: page.locator('input[name="f"][value="name"]') }).first();
  await expect.poll(() => page.textContent('#effect')).toMatch(/nameKunde 1.*edit is kept/su);
  await name.locator('select[name="w"]').selectOption('always');
  await expect.poll(() => page.textContent('#effect')).toMatch(/nameKunde 1.*will be written.*always/su);
  const property = name.locator('input[name="p"]');
  await property.fill('no_such_property');
  await expect.poll(() => name.textContent()).toContain('the CRM has no such property');
  expect(await page.evaluate('document.activeElement.name')).toBe('p');
  await property.fill('name');
  await page.click('button[value="count"]');
  await expect.poll(() => page.textContent('#sum'), { timeout: 20_000 }).toContain('1 records: ');
  await expectSound();
  const before = text();
  await page.click('button[value="save"]');
  await page.waitForURL(/\/settings\/saved/);
  expect(text()).not.toBe(before);
  await expect.poll(() => page.textContent('#saved'), { timeout: 20_000 }).toContain('waits for your word');
  await page.click('#saved a');
  await page.waitForURL(/\/installation\/configuration$/);
});

it('works without script, in Danish', async () => {
  const { app, token, text } = await linked();
  const { page } = await open({ script: false, language: 'da-DK' });
  await signIn(page, app.adminUrl, token);
  await page.goto(`${app.adminUrl}${PAGE}`);
  const name = page.locator('tr', { has: page.locator('input[name="f"][value="name"]') }).first();
  await name.locator('select[name="w"]').selectOption('never');
  await name.locator('button').click();
  await page.selectOption('#case', 'upper');
  await page.click('button[value="show"] >> visible=true');
  expect(await page.textContent('main')).toContain('Detaljer for Navn');
  await page.click('button[value="save"]');
  await page.waitForURL(/\/settings\/saved/);
  expect(parse(text()).connector.providers.hubspot.fields.name[0]).toEqual({
    ...{ property: 'name', policy: 'never', case: 'upper' },
  });
});
