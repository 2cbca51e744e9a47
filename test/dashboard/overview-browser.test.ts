/** The charts of the overview in a browser: a span of them opens its writes, which are taken back there. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { signIn, useBrowser } from './browser.ts';
import { playStory } from './story.ts';

const { open } = useBrowser();

/** The time at a bar, as the form below the charts names it. */
const timeAt = async (page: Page, name: string, bar: number): Promise<string | null> =>
  page.locator(`[data-span="${name}"] option`).nth(bar).getAttribute('value');

async function expectWrites(page: Page, since: string | null, until: string | null): Promise<void> {
  await page.waitForURL('**/writes?*');
  const { searchParams } = new URL(page.url());
  expect([searchParams.get('since'), searchParams.get('until')]).toEqual([since, until]);
  await expect.poll(() => page.textContent('main')).toContain('Take these writes back …');
}

describe('a span of the charts', () => {
  it('is selected by dragging, and survives a refresh', async () => {
    const { fixture, token } = await playStory();
    const { page } = await open();
    await page.clock.install();
    await signIn(page, fixture.app.adminUrl, await token('operator'));
    const chart = page.locator('svg[data-bars]').nth(1);
    await chart.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    // From the right to the left, too.
    await page.mouse.move(x + width - 2, y + height / 2);
    await page.mouse.down();
    const [since, until] = [await timeAt(page, 'since', 20), await timeAt(page, 'until', 23)];
    await page.mouse.move(x + (width * 20.5) / 24, y + height / 2, { steps: 4 });
    const answered = page.waitForResponse((response) => 'x-cvrsync-refresh' in response.request().headers());
    await page.clock.runFor(11_000);
    await (await answered).finished();
    expect(await page.getAttribute('.chart .span', 'width')).toBe('40');
    await page.mouse.up();
    await expectWrites(page, since, until);
  });

  it('is explained beside its form after a refresh too, and unfolded parts stay open', async () => {
    const { fixture, token } = await playStory();
    const { page, expectSound } = await open();
    await page.clock.install();
    await signIn(page, fixture.app.adminUrl, await token('operator'));
    const shown = () => page.getAttribute('#overview', 'data-now');
    await page.click('#trends details summary');
    const before = await shown();
    await page.clock.runFor(11_000);
    await expect.poll(shown).not.toBe(before);
    expect(await page.locator('#trends details[open]').count()).toBe(1);
    expect(await page.locator('.drag-hint').isVisible()).toBe(true);
    await expectSound();
  });

  it('is chosen without scripts', async () => {
    const { fixture, token } = await playStory();
    const { page, expectSound } = await open({ script: false, width: 390 });
    await signIn(page, fixture.app.adminUrl, await token('operator'));
    expect(await page.locator('.drag-hint').isVisible()).toBe(false);
    const since = await timeAt(page, 'since', 3);
    await page.selectOption('[data-span="since"]', since);
    const until = await timeAt(page, 'until', 23);
    await expectSound();
    await page.click('form[data-spans] button');
    await expectWrites(page, since, until);
  });
});
