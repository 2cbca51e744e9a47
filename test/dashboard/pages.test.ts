/** What all pages have: headers, language, and an answer for what is not there. */
import { describe, expect, it } from 'vitest';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

describe('every page', () => {
  it('forbids scripts, frames and addresses that are not ours', async () => {
    const { admin } = await startPages();
    for (const path of ['/', '/login', '/sessions', '/nothing', '/assets/style.css']) {
      const { headers } = await (await admin()).get(path);
      expect(headers['content-security-policy'], path).toBe(
        "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'",
      );
      expect(headers, path).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
      });
    }
    expect((await (await admin()).get('/')).headers['cache-control']).toBe('no-store');
  });

  it('speaks Danish to Danes and English to all others', async () => {
    const { admin } = await startPages();
    const read = async (language: string) => (await (await admin()).get('/', { 'accept-language': language })).text;
    expect(await read('da,en-US;q=0.9')).toMatch(/<html lang="da-DK">[\s\S]*<h1>Overblik<\/h1>/);
    expect(await read('de-DE,da;q=0.8,en;q=0.4')).toMatch(/<html lang="da-DK">/);
    expect(await read('en-US,da;q=0.5')).toMatch(/<html lang="en-US">[\s\S]*<h1>Overview<\/h1>/);
    for (const other of ['', 'fr', '*', 'en-"><script>', 'da-DK-u-nu-x'.repeat(40)])
      expect(await read(other), other).toMatch(/<html lang="en-GB">/);
  });

  it('answers 404 as a page to browsers and as JSON to programs if it does not exist', async () => {
    const { admin } = await startPages();
    const page = await (await admin()).get('/companies/%3Cscript%3E');
    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toContain('There is nothing here');
    const json = await (await admin()).get('/nothing', { accept: 'application/json' });
    expect(JSON.parse(json.text)).toMatchObject({ httpStatusCode: 404 });
    const api = await (await admin()).get('/admin/api/nothing');
    expect(JSON.parse(api.text)).toMatchObject({ httpStatusCode: 404 });
  });
});

describe.each(SUITE_ENGINES)('a NUL in a request, on %s', (engine) => {
  const QUERIES = [
    '/audit?actor=%00',
    '/audit?subject=a%00',
    '/audit.csv?actor=%00',
    '/companies?q=%00abc',
    '/companies?q=hubspot:%00',
    '/companies/CVR-1-%00',
    '/inbox?kind=difference&property=%00',
    '/inbox.csv?kind=difference&provider=%00',
    '/writes?property=%00',
    '/writes?record=%00',
    '/deliveries?monitor=%00',
    '/deliveries?entity=%00',
    '/monitors?q=%00',
    '/monitors/%00',
    '/keys?q=%00',
    '/connections/%00',
    '/inbox?kind=match&at=%00',
  ];
  const FORMS: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
    ['/monitors/%00/remove', {}],
    ['/keys', { name: 'a\0b' }],
    ['/keys/%00/revoke', {}],
    ['/monitors', { name: 'a\0b', target: 'items', url: 'https://hooks.example.com/a' }],
    ['/runs/answers', { kind: 'difference', verb: 'keep-difference', provider: '\0' }],
    ['/inbox/answers', { verb: 'retry-lane', choice: ' lane/apply/\0' }],
    ['/inbox/answers', { verb: 'retry-lane', choice: ' lane/apply/%00' }],
    ['/runs/undo', { record: '\0', property: '\0' }],
  ];

  it('is searched, and not found', async () => {
    const { signedIn } = await startPages({ engine });
    const admin = await signedIn('admin');
    for (const path of QUERIES) {
      const { status } = await admin.get(path);
      expect([200, 303, 404], `${status} ${path}`).toContain(status);
    }
  });

  it('in a form does not cause a server error', async () => {
    const { signedIn } = await startPages({ engine });
    const admin = await signedIn('admin');
    await admin.get('/audit');
    for (const [path, fields] of FORMS) {
      const { status } = await admin.post(path, fields);
      expect([200, 303, 404, 409, 422], `${status} ${path}`).toContain(status);
    }
  });
});
