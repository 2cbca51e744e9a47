/** From `cvrsync serve` in an empty folder to the backfill, in a real Chromium: nothing but clicks and typing. */
import { expect, it, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import { firstStart } from '../../support/first-start.ts';
import { type Tab, useBrowser } from '../browser.ts';

const { open } = useBrowser();

/** Presses the button that leads on, and waits for the page behind it. */
async function goOn({ page, expectSound }: Tab, path: RegExp): Promise<void> {
  await page.click('main form .primary, main a.primary');
  await page.waitForURL(path);
  await expectSound();
}

/** Comes in by a link that the page itself reads, and says who. */
async function comeIn(tab: Tab, link?: string): Promise<void> {
  const { page } = tab;
  if (link !== undefined) await page.goto(link);
  await page.waitForURL(/\/setup\/you$/);
  expect(page.url()).not.toContain('#');
  await tab.expectSound();
  await page.fill('[name="s.name"]', 'Ida Holm');
  await goOn(tab, /\/setup\/crm$/);
}

/** Looks again until the CRM answered: a busy machine may take longer than a page waits. */
const untilThere = ({ page }: Tab, selector: string) =>
  expect
    .poll(async () => {
      const count = await page.locator(selector).count();
      const again = page.locator('main a', { hasText: /^(?:Look again|Se igen)$/u });
      if (count === 0 && (await again.count()) > 0) await again.first().click();
      return count;
    })
    .toBeGreaterThan(0);

/** The steps from the number on. */
async function finish(tab: Tab): Promise<void> {
  const { page } = tab;
  await untilThere(tab, 'form.stacked .primary');
  await goOn(tab, /\/setup\/mapping\//);
  await goOn(tab, /\/setup\/source$/);
  await goOn(tab, /\/setup\/fill$/);
  await page.click('main .primary');
  await page.waitForURL(/\/backfill\/\w+$/);
  await tab.expectSound();
}

it('a person with a HubSpot key and no terminal reaches the backfill, at 320 px', async () => {
  const scopes = ['crm.objects.companies.read', 'crm.objects.companies.write', 'crm.schemas.companies.write'];
  const hubspot = await startHubspotEmulator({ scopes, missingProperties: ['cvr_number', 'cvr_hold'] });
  onTestFinished(() => hubspot.close());
  hubspot.add({ name: 'Birk ApS', phone: '+4510203040' });
  const { link } = await firstStart();
  const tab = await open({ width: 320 });
  const { page } = tab;
  await comeIn(tab, link);
  await page.click('a[href="/setup/crm/hubspot"]');
  await page.waitForURL(/\/setup\/crm\/hubspot$/);
  await tab.expectSound();
  await page.fill('[name="s.accessToken"]', String(hubspot.settings['accessToken']));
  await page.click('summary');
  await page.fill('[name="s.baseUrl"]', String(hubspot.settings['baseUrl']));
  await page.click('main form.stacked button');
  await page.waitForSelector('a.primary[href="/setup/number/hubspot"]');
  // The account, and four rights.
  expect(await page.locator('.state.ok').count()).toBe(5);
  await goOn(tab, /\/setup\/number\/hubspot$/);
  await untilThere(tab, 'form[action$="/create"] button');
  await page.click('form[action$="/create"] button');
  await untilThere(tab, 'form.stacked .primary');
  await finish(tab);
});

it('a person with a Salesforce app reaches the backfill in Danish, without scripts', async () => {
  const salesforce = await startSalesforceEmulator();
  onTestFinished(() => salesforce.close());
  salesforce.add({ Name: 'Birk ApS' });
  const { link } = await firstStart();
  const tab = await open({ script: false, language: 'da-DK', theme: 'dark' });
  const { page } = tab;
  await page.goto(link);
  await page.fill('#code', link);
  await page.click('button.primary');
  await comeIn(tab);
  await page.click('a[href="/setup/crm/salesforce"]');
  await page.waitForURL(/\/setup\/crm\/salesforce$/);
  await tab.expectSound();
  const { loginUrl, auth } = salesforce.settings;
  const { clientId, clientSecret } = Object(auth);
  await page.check('[name="s.auth"][value="client-credentials"]');
  await page.fill('[name="s.auth[client-credentials].clientId"]', clientId);
  await page.fill('[name="s.auth[client-credentials].clientSecret"]', clientSecret);
  await page.click('summary');
  await page.fill('[name="s.loginUrl"]', String(loginUrl));
  await page.click('main form.stacked button');
  await untilThere(tab, 'a.primary[href="/setup/number/salesforce"]');
  expect(await page.textContent('#access')).toContain('Læse virksomheder');
  await goOn(tab, /\/setup\/number\/salesforce$/);
  await finish(tab);
});
