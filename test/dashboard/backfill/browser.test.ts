/** A backfill in a real browser, by keyboard alone, with scripts and without. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL } from '../../support/all.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { newFolder } from '../../support/stores.ts';
import { signIn, useBrowser } from '../browser.ts';
import { keyboardOf } from '../keyboard.ts';
import { HOSTILE } from '../story.ts';
import { startHouse } from './house.ts';

const { open } = useBrowser();

describe.each([true, false])('with scripts: %s', (script) => {
  // In the suite one of them with scripts, the other one without.
  it.runIf(ALL || script)('a plan is made, edited and applied by keyboard alone', async () => {
    const { fixture, add, token, links } = await startHouse();
    const [one, skipped, other] = [
      add('hubspot', '10150817', HOSTILE),
      add('hubspot', cvrNumber(1)),
      add('hubspot', 'ukendt'),
    ];
    const base = fixture.app.adminUrl;
    const { page, expectSound } = await open({ script, width: script ? 1280 : 390 });
    const { press, tabTo, shows } = keyboardOf(page, script);
    await signIn(page, base, await token('operator'));
    await page.goto(`${base}/backfill/hubspot`);
    await expectSound();
    await press(/^Scan the CRM$/u);
    await shows('Look at the plan');
    await expectSound();
    await press(/^Look at the plan$/u);
    await expectSound();

    // What needs a person is shown first, by itself.
    expect(await page.textContent('main table:has(code)')).toContain(other);
    expect(await page.textContent('main table:has(code)')).not.toContain(skipped);
    await press(/^Show all$/u);
    await press(new RegExp(`^Skip ${skipped}$`, 'u'));
    await press(new RegExp(`^Choose … ${other}$`, 'u'));
    await expectSound();
    // Radio buttons are one stop: arrows choose among them.
    await tabTo(/^Skip it/u);
    await page.keyboard.press('ArrowUp');
    await tabTo(/^CVR number/u);
    await page.keyboard.type(cvrNumber(9));
    await press(/^Save in the plan$/u);

    await tabTo(/differs/u);
    await page.keyboard.press('ArrowDown');
    await press(/^Preview …$/u);
    await shows('2 records would be linked');
    await expectSound();
    expect(await page.textContent('main')).toContain('<script>alert(1)</script>');
    expect(await page.textContent('main')).toContain('the register is right');
    expect(await links('hubspot')).toEqual({});
    await press(/^Link 2 records$/u);
    await shows('Done');
    await expectSound();
    expect(await links('hubspot')).toEqual({
      [one]: 'CVR-1-10150817 number active',
      [other]: `CVR-1-${cvrNumber(9)} person active`,
    });

    const updates = { phoneNumber: { before: '10203040', after: '20304050' } };
    await fixture.post({ entityId: 'CVR-1-10150817', timestamp: '2026-03-01T09:00:00.000Z', updates });
    await fixture.settled();
    expect(fixture.hubspot.get(one)).toMatchObject({ phone: '+4520304050' });
    expect(fixture.hubspot.get(skipped)).not.toMatchObject({ phone: '+4520304050' });
  });

  it.runIf(ALL || !script)('a plan file is chosen and uploaded, and a bad one is refused with its lines', async () => {
    const { fixture, add, token } = await startHouse();
    const id = add('hubspot', '10150817');
    await fixture.cli('backfill', 'hubspot', '--dry-run');
    const base = fixture.app.adminUrl;
    const { page, expectSound } = await open({ script, width: script ? 1280 : 390, theme: 'dark', language: 'da-DK' });
    await signIn(page, base, await token('operator'));
    await page.goto(`${base}/backfill/hubspot/upload`);
    await expectSound();
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    const [bad, good] = [path.join(folder, 'bad.csv'), path.join(folder, 'good.csv')];
    writeFileSync(bad, 'record;number;action\n4711;10150817;link\n');
    writeFileSync(good, `record;number;action\n${id};10150817;skip\n`);
    await page.setInputFiles('#file', good);
    await page.click('main button.primary');
    await page.waitForURL(`${base}/backfill/hubspot`);
    expect(await page.textContent('main')).toContain('springes over');
    await expectSound();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      for (const shown of ['', `/row?record=${id}`, '/upload', '/scan']) {
        await page.goto(`${base}/backfill/hubspot${shown}`);
        await expectSound();
      }
    }
    await page.goto(`${base}/backfill/hubspot/upload`);
    await page.setInputFiles('#file', bad);
    await page.click('main button.primary');
    await page.waitForSelector('[role=alert]:not(#stale)');
    expect(await page.textContent('[role=alert]:not(#stale)')).toContain('linje 2');
  });
});
