/** A crawl over every route of the service and of `/admin/api`, by strangers and by keys: the answer to each. */
import { expect, it } from 'vitest';
import { ofStranger } from '../../support/stranger.ts';
import { openHarness } from './harness.ts';

it('every route requires a key before any other check, and those of /admin/api the scope `admin`', async () => {
  const harness = await openHarness();
  const keys = {
    none: '',
    unknown: `cvrsync_${'A'.repeat(43)}`,
    news: (await harness.key(['news'])).key,
    client: (await harness.key(['monitoring'])).key,
    admin: (await harness.key(['admin'])).key,
  };
  const found = new Map<string, Record<string, string>>();
  for (const route of harness.routes) {
    const [method = '', pattern = ''] = route.split(' ');
    const answers: Record<string, string> = {};
    for (const [name, key] of Object.entries(keys)) {
      const headers = {
        ...ofStranger(),
        'x-access-key': key,
        authorization: key === '' ? '' : `Bearer ${key}`,
      };
      const url = harness.url + pattern.replaceAll(/:\w+|\*/g, 'x');
      const { status } = await fetch(url, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      expect(status, `${name} ${route}`).toBeLessThan(500);
      answers[name] = status === 401 || status === 403 ? String(status) : 'in';
    }
    found.set(route, answers);
  }
  const wanted = (route: string) =>
    route.includes(' /admin/api')
      ? { none: '401', unknown: '401', news: '403', client: '403', admin: 'in' }
      : { none: '401', unknown: '401', news: '403', client: 'in', admin: '403' };
  expect(found.size).toBeGreaterThan(20);
  for (const [route, answers] of found) expect(answers, route).toEqual(wanted(route));
});
