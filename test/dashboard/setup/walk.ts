/** The way from the link that `serve` prints to a filled CRM, as somebody without a terminal goes it: clicks, and what a person types. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import { salesforce as salesforceProvider } from '../../../providers/salesforce/provider.ts';
import { sampleSeries } from '../../../src/commands/emulate/sample/stream.ts';
import type { Tab } from '../browser.ts';

/** A CRM that people filled by hand, and what they type to connect it. */
export interface WalkedCrm {
  readonly name: 'hubspot' | 'salesforce';
  /** The ids of its records. */
  readonly ids: readonly string[];
  readonly get: (id: string) => Readonly<Record<string, PropertyValue>> | undefined;
  /** A property that cvrsync alone fills. */
  readonly filled: string;
  /** Answers the form of its settings. */
  readonly answer: (tab: Tab) => Promise<void>;
}

/** Puts as many invented companies into the sample register of an installed package; their numbers. */
export function addSamples(home: string, companies: number): readonly string[] {
  const documents = Array.from(sampleSeries(5, companies, 0), ({ document }) => document);
  const lines = documents.map((document) => `${JSON.stringify(document)}\n`);
  writeFileSync(join(home, 'node_modules/cvrsync/samples/register/walk.jsonl'), lines.join(''));
  return documents.flatMap((document) => Object(Object(document).Vrvirksomhed).cvrNummer ?? []).map(String);
}

/** Numbers as people write them. */
const spelt = (number: string, at: number): string =>
  at % 3 === 0 ? number : at % 3 === 1 ? `DK ${number}` : number.replace(/(..)(?=.)/gu, '$1 ');

/** A HubSpot account whose companies hold their number in a property of their own. */
export async function hubspotOf(numbers: readonly string[]): Promise<WalkedCrm> {
  const scopes = ['read', 'write'].flatMap((right) => [
    `crm.objects.companies.${right}`,
    `crm.schemas.companies.${right}`,
  ]);
  const properties = [{ name: 'moms_nr', label: 'Moms nr.', type: 'string' as const }];
  const hubspot = await startHubspotEmulator({ scopes, properties, missingProperties: ['cvr_number', 'cvr_hold'] });
  onTestFinished(() => hubspot.close());
  return {
    ...{ name: 'hubspot', filled: 'cvr_name', get: hubspot.get },
    ids: numbers.map((number, at) => hubspot.add({ name: `Kunde ${at}`, moms_nr: spelt(number, at) })),
    async answer({ page }) {
      await page.fill('[name="s.accessToken"]', String(hubspot.settings['accessToken']));
      await page.click('summary');
      await page.fill('[name="s.baseUrl"]', String(hubspot.settings['baseUrl']));
    },
  };
}

/** A Salesforce org, likewise. */
export async function salesforceOf(numbers: readonly string[]): Promise<WalkedCrm> {
  const fields = [{ name: 'Moms_nr__c', label: 'Moms nr.', type: 'string', length: 40 }] as const;
  const missingFields = (salesforceProvider.definitions ?? []).map(({ name }) => name);
  const salesforce = await startSalesforceEmulator({ fields, missingFields });
  onTestFinished(() => salesforce.close());
  return {
    ...{ name: 'salesforce', filled: 'CVR_Name__c', get: salesforce.get },
    ids: numbers.map((number, at) => salesforce.add({ Name: `Kunde ${at}`, Moms_nr__c: spelt(number, at) })),
    async answer({ page }) {
      const { loginUrl, auth } = salesforce.settings;
      const { clientId, clientSecret } = Object(auth);
      await page.check('[name="s.auth"][value="client-credentials"]');
      await page.fill('[name="s.auth[client-credentials].clientId"]', clientId);
      await page.fill('[name="s.auth[client-credentials].clientSecret"]', clientSecret);
      await page.click('summary');
      await page.fill('[name="s.loginUrl"]', String(loginUrl));
    },
  };
}

/** Looks again until it is there: a busy machine may take longer than a page waits. */
async function untilThere({ page }: Tab, selector: string): Promise<void> {
  const found = async (): Promise<number> => {
    const count = await page.locator(selector).count();
    const again = page.locator('main a', { hasText: /^(?:Look again|Se igen)$/u });
    if (count === 0 && (await again.count()) > 0) await again.first().click();
    return count;
  };
  await expect.poll(found).toBeGreaterThan(0);
}

/** How long a person waits for a run. */
export const LONGEST_MS = 600_000;

/** Goes the way; `seen` looks at each page. Resolves when the run says that all is linked. */
export async function walk(
  tab: Tab,
  {
    link,
    crm,
    seen,
  }: { readonly link: string; readonly crm: WalkedCrm; readonly seen: (name: string) => Promise<void> },
): Promise<void> {
  const { page } = tab;
  const { name } = crm;
  page.setDefaultTimeout(LONGEST_MS);
  const goOn = async (path: RegExp): Promise<void> => {
    await page.click('main form .primary, main a.primary');
    await page.waitForURL(path);
  };
  await page.goto(link);
  await page.waitForURL(/\/setup\/you$/);
  await seen('you');
  await page.fill('[name="s.name"]', 'Ida Holm');
  await goOn(/\/setup\/crm$/);
  await seen('crm');
  await page.click(`main a[href="/setup/crm/${name}"]`);
  await page.waitForURL(/\/setup\/crm\/\w+$/);
  await seen('settings');
  await crm.answer(tab);
  await page.click('main form.stacked button');
  await untilThere(tab, `a.primary[href="/setup/number/${name}"]`);
  await seen('access');
  await goOn(/\/setup\/number\/\w+$/);
  await untilThere(tab, 'form[action$="/create"] button');
  await seen('number');
  await page.click('form[action$="/create"] button');
  await untilThere(tab, '#creation:not([data-live="soon"])');
  await seen('created');
  await goOn(/\/setup\/mapping\//);
  await untilThere(tab, '#mapping');
  await seen('mapping');
  await goOn(/\/setup\/source$/);
  await seen('source');
  await goOn(/\/setup\/fill$/);
  await seen('fill');
  await page.click('main summary');
  await seen('alerts');
  await goOn(/\/backfill\/\w+$/);
  await seen('backfill');
  await page.click('main .primary');
  await page.waitForURL(/\/runs\/\d+$/);
  await seen('scan');
  await page.click(`main a[href="/backfill/${name}"]`);
  await seen('plan');
  const confirmed = async (button: string): Promise<void> => {
    await page.click(`form[action$="/apply"] ${button}`);
    await page.waitForURL(/\/runs\/\d+$/);
    await page.waitForSelector('form[action$="/confirm"] button');
    await seen('preview');
    await page.click('form[action$="/confirm"] button');
  };
  await confirmed('button[name="trial"]');
  // Some of the records are looked at before the rest is linked.
  await page.waitForSelector('section table');
  await seen('trial');
  await page.click(`main a.button[href="/backfill/${name}"]`);
  await page.waitForURL(/\/backfill\/\w+$/);
  await confirmed('button.primary');
  await seen('applying');
  await page.waitForSelector(`main a[href="/backfill/${name}?part=linked"]`);
  await page.waitForSelector(`main a[href="/writes?provider=${name}"]`);
  await seen('applied');
  await page.goto(new URL('/', link).href);
  await page.waitForSelector('main a[href="/settings/source"]');
  await seen('home');
}

/** How many records hold what cvrsync alone fills. */
export const countFilled = ({ ids, get, filled }: WalkedCrm): number =>
  ids.filter((id) => typeof get(id)?.[filled] === 'string').length;
