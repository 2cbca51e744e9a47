/** The audit as a page and as a file. */
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { type AuditEntry, recordAudit } from '../../src/runtime/operators/audit.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

const HOSTILE = '<script>alert(1)</script>';
const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  actor: { kind: 'key', name: 'Nordlys' },
  via: 'api',
  action: 'monitor.disable',
  result: 'done',
  ...more,
});

describe.each(SUITE_ENGINES)('the audit on %s', (engine) => {
  it('shows every entry once, page by page, and shows foreign markup as text', async () => {
    const { admin, store } = await startPages({ engine });
    await store.write(async (tx) => {
      for (let at = 0; at < 120; at += 1) await recordAudit(tx, entry({ subject: `s${at}.`, result: HOSTILE }), at);
    });
    const seen: string[] = [];
    for (let path: string | undefined = '/audit'; path !== undefined; ) {
      const { text, status }: { text: string; status: number } = await (await admin()).get(path);
      expect(status).toBe(200);
      expect(text).not.toContain('<script>alert');
      expect(text).toContain('&lt;script>alert(1)');
      seen.push(...(text.match(/(?<=<div>)s\d+\./g) ?? []));
      path = /rel="next" href="([^"]+)"/.exec(text)?.[1];
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `s${119 - index}.`));
  });

  it('filters by actor, action and origin, and exports the same as a file', async () => {
    const { admin, store } = await startPages({ engine });
    await store.write(async (tx) => {
      await recordAudit(tx, entry({ subject: '=HYPERLINK("evil")', detail: { kept: true } }), 0);
      await recordAudit(tx, entry({ actor: { kind: 'user', name: 'root' }, via: 'command' }), 1);
    });
    const narrowed = await (await admin()).get('/audit?actor=Nordlys&via=api');
    expect(narrowed.text).toContain('HYPERLINK');
    expect(narrowed.text).not.toContain('>root ');
    expect(narrowed.text).toContain('href="/audit.csv?actor=Nordlys&amp;via=api"');
    const file = await (await admin()).get('/audit.csv?actor=Nordlys&via=api');
    expect(file.headers['content-disposition']).toBe('attachment; filename="audit.csv"');
    expect(parse(file.text, { bom: true, delimiter: ';', columns: true })).toEqual([
      {
        time: '1970-01-01T00:00:00.000Z',
        kind: 'key',
        who: 'Nordlys',
        via: 'api',
        action: 'monitor.disable',
        subject: `'=HYPERLINK("evil")`,
        detail: '{"kept":true}',
        result: 'done',
      },
    ]);
  });

  it('shows viewers no whole mail address, on the page and in the file', async () => {
    const { signedIn, store } = await startPages({ engine });
    const told = {
      subject: 'a eva@example.com',
      detail: { to: 'bo@example.com' },
      result: 'mail to Ida.B@example.com goes on',
    };
    await store.write((tx) => recordAudit(tx, entry(told), 0));
    const [viewer, operator] = [await signedIn('viewer'), await signedIn('operator')];
    for (const path of ['/audit', '/audit.csv']) {
      const { text } = await viewer.get(path);
      for (const whole of ['eva@', 'bo@', 'Ida.B@']) expect(text, path).not.toContain(whole);
      for (const masked of ['a e•••@example.com', 'b•••@example.com', 'mail to I•••@example.com goes on'])
        expect(text, path).toContain(masked);
      expect((await operator.get(path)).text, path).toContain('Ida.B@example.com');
    }
  });

  it('explains itself while it is empty, and says when nothing matches', async () => {
    const { admin } = await startPages({ engine });
    expect((await (await admin()).get('/audit')).text).toContain('Each action of a person will appear here');
    expect((await (await admin()).get('/audit?action=x&before=x')).text).toContain('No entry fits this filter');
  });

  it('does not call a viewer or an admin by the name of another role', async () => {
    const { signedIn } = await startPages({ engine });
    await signedIn('viewer');
    const { text } = await (await signedIn('admin')).get('/audit');
    expect(text).toContain('the viewer <span class="quiet">dashboard user</span>');
    expect(text).not.toContain('<span class="quiet">operator</span>');
  });

  it('asks those without a session to sign in, also for the file', async () => {
    const { visitor, operator } = await startPages({ engine });
    await operator('Ida', 'viewer');
    for (const path of ['/audit', '/audit.csv']) expect((await visitor().get(path)).status).toBe(303);
  });
});
