/** Every time on a page is in the configured zone, which the page names; times that are typed are read in it. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startEdited } from './settings/daemon.ts';
import { startSetUpPages } from './setup/set-up-pages.ts';
import { startPages } from './visitor.ts';

describe('a time zone', () => {
  it('is the one of all times and filters of a page', async () => {
    const { signedIn } = await startPages({ timeZone: 'Asia/Tokyo', now: () => Date.parse('2026-03-01T20:00:00Z') });
    const ida = await signedIn('operator');
    const sessions = (await ida.get('/sessions')).text;
    expect(sessions).toContain('Time zone: Asia/Tokyo');
    expect(sessions).toContain('2 Mar 2026, 05:00');
    const deliveries = (await ida.get('/deliveries?since=2026-03-01T20:00:00Z')).text;
    expect(deliveries).toContain('Created from (Asia/Tokyo)');
    expect(deliveries).toContain('value="2026-03-02T05:00"');
  });

  it('is chosen in the first step of the set-up', async () => {
    const pages = await startSetUpPages();
    const ida = await pages.entered();
    expect((await ida.get('/setup/you')).text).toMatch(/<option selected[^>]*>Europe\/Copenhagen</u);
    await ida.post('/setup/you', { 's.name': 'Ida Holm', timeZone: 'Atlantic/Faroe' });
    expect((await ida.get('/setup/you')).text).toMatch(/<option selected[^>]*>Atlantic\/Faroe</u);
    await ida.post('/setup/you', { 's.name': 'Ida Holm', timeZone: 'Atlantic/Atlantis' });
    expect((await ida.get('/setup/you')).text).toMatch(/<option selected[^>]*>Atlantic\/Faroe</u);
  });

  it('is changed under Settings, for the file and at once for the pages', async () => {
    const daemon = await startEdited();
    const admin = await daemon.admin();
    expect((await admin.get('/settings')).text).toContain('href="/settings/time-zone"');
    await admin.get('/settings/time-zone');
    expect((await admin.post('/settings/time-zone', { timeZone: 'Mars/Phobos' })).status).toBe(422);
    expect((await admin.post('/settings/time-zone', { timeZone: 'Europe/London' })).status).toBe(303);
    expect(parse(daemon.text()).timeZone).toBe('Europe/London');
    await daemon.settled();
    await expect.poll(async () => (await admin.get('/settings')).text).toContain('Time zone: Europe/London');
  });
});
