/** From the published package in an empty folder to a CRM whose linked records are filled, in a real Chromium, by clicks alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL } from '../../support/all.ts';
import { firstStart } from '../../support/first-start.ts';
import { installPacked } from '../../support/packed.ts';
import { useBrowser } from '../browser.ts';
import { addSamples, countFilled, hubspotOf, LONGEST_MS, salesforceOf, walk } from './walk.ts';

/** Companies in the CRM, more than a trial links; the nightly run walks with 2,000. */
const COMPANIES = Number(process.env['CVRSYNC_TEST_WALK'] ?? 24);

describe.runIf(ALL)('the published package', () => {
  const { open } = useBrowser();
  let [folder, entry] = ['', ''];
  let numbers: readonly string[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cvrsync-walk-'));
    const home = await installPacked(folder);
    entry = join(home, 'node_modules/.bin/cvrsync');
    numbers = addSamples(home, COMPANIES);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['HubSpot', hubspotOf],
    ['Salesforce', salesforceOf],
  ])('fills the companies of %s within ten minutes', async (_name, crmOf) => {
    const crm = await crmOf(numbers);
    const began = performance.now();
    const { link } = await firstStart({}, { entry });
    const tab = await open();
    await walk(tab, { link, crm, seen: tab.expectSound });
    await expect.poll(() => countFilled(crm), { timeout: LONGEST_MS }).toBe(COMPANIES);
    const tookMs = performance.now() - began;
    expect(tookMs).toBeLessThan(LONGEST_MS);
  });
});
