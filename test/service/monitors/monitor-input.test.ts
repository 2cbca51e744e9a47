import { describe, expect, it } from 'vitest';
import { checkMonitor, type MonitorInput, readEventNames } from '../../../src/service/monitors/monitor-input.ts';

const wrong = (input: Partial<MonitorInput>) => checkMonitor(input).map(({ path }) => path);

describe('the input of a monitor', () => {
  it.each<Partial<MonitorInput>>([
    {},
    { name: 'Salg & Økonomi', url: 'https://receiver.example:8443/a?b=c', target: 'all', events: [], emails: [] },
    { url: 'http://10.0.0.7/webhook', provider: 'hubspot', schedule: [0], events: ['productionUnit', 'EMAIL'] },
    {
      url: null,
      provider: null,
      schedule: null,
      events: null,
      emails: [
        'a.b+c@sub.example.dk',
        "o'hara@example.com",
        'Bø@Example.COM',
        'ida@blåbærgrød.example',
        'ida@xn--blbrgrd-fxak7p.example',
      ],
    },
    { credentials: { method: 'None' } },
    { credentials: { method: 'Header', key: 'X-Api-Key', value: 'a b' } },
    { credentials: { method: 'Header', key: 'Authorization', value: 'Custom x' } },
    { credentials: { method: 'BasicAuth', key: 'us er', value: 'p:w' } },
    { credentials: { method: 'Bearer', token: 'abc.def-123' } },
  ])('may be %j', (input) => expect(checkMonitor(input)).toEqual([]));

  it.each<[Partial<MonitorInput>, string]>([
    [{ name: ' ' }, '/name'],
    [{ name: 'a\nb' }, '/name'],
    [{ name: 'x'.repeat(201) }, '/name'],
    [{ provider: '' }, '/provider'],
    [{ provider: 'a/b' }, '/provider'],
    [{ provider: 'crm', target: 'all' }, '/target'],
    [{ url: '' }, '/url'],
    [{ url: 'receiver.example/webhook' }, '/url'],
    [{ url: 'ftp://receiver.example' }, '/url'],
    [{ url: 'file:///etc/passwd' }, '/url'],
    [{ url: 'javascript:alert(1)' }, '/url'],
    [{ url: 'https://user@receiver.example' }, '/url'],
    [{ url: 'https://:password@receiver.example' }, '/url'],
    [{ url: `https://receiver.example/${'x'.repeat(2_048)}` }, '/url'],
    [{ events: ['name', 'nmae'] }, '/events/1'],
    [{ events: ['__proto__'] }, '/events/0'],
    [{ postsPerMinute: 0 }, '/postsPerMinute'],
    [{ postsPerMinute: 1.5 }, '/postsPerMinute'],
    [{ postsPerMinute: 60_001 }, '/postsPerMinute'],
    [{ postsPerMinute: Number.NaN }, '/postsPerMinute'],
    [{ schedule: [] }, '/schedule'],
    [{ schedule: Array.from({ length: 51 }, () => 0) }, '/schedule'],
    [{ schedule: [0, -1] }, '/schedule/1'],
    [{ schedule: [0.5] }, '/schedule/0'],
    [{ schedule: [604_801] }, '/schedule/0'],
    [{ emails: ['a@example.com', 'b'] }, '/emails/1'],
    [{ emails: ['a@example.com\r\nBcc: x@example.com'] }, '/emails/0'],
    [{ emails: ['\0a@example.com'] }, '/emails/0'],
    [{ emails: ['a\u0085@example.com'] }, '/emails/0'],
    [{ emails: ['\ud800@example.com'] }, '/emails/0'],
    [{ emails: ['A <a@example.com>'] }, '/emails/0'],
    [{ emails: ['a@b@example.com'] }, '/emails/0'],
    [{ emails: ['a@localhost'] }, '/emails/0'],
    [{ emails: ['a@example..com@'] }, '/emails/0'],
    [{ emails: ['a@blå..example'] }, '/emails/0'],
    [{ emails: ['a@-blå.example'] }, '/emails/0'],
    [{ emails: ['a@１２７.0.0.1'] }, '/emails/0'],
    [{ emails: ['a@blå%62.example'] }, '/emails/0'],
    [{ emails: [`${'ø'.repeat(33)}@example.com`] }, '/emails/0'],
    [{ emails: [`a@${'blå.'.repeat(30)}example`] }, '/emails/0'],
    [{ emails: Array.from({ length: 101 }, (_, at) => `a${at}@example.com`) }, '/emails'],
    [{ credentials: { method: 'Header', key: 'X Key', value: 'a' } }, '/credentials'],
    [{ credentials: { method: 'Header', key: 'X-Key', value: 'a\r\nX-Other: b' } }, '/credentials'],
    [{ credentials: { method: 'Header', key: 'Content-Length', value: '1' } }, '/credentials/key'],
    [{ credentials: { method: 'Header', key: 'webhook-id', value: '1' } }, '/credentials/key'],
    [{ credentials: { method: 'Header', key: 'Keep-Alive', value: '1' } }, '/credentials/key'],
    [{ credentials: { method: 'BasicAuth', key: 'a:b', value: 'x' } }, '/credentials'],
    [{ credentials: { method: 'Bearer', token: '' } }, '/credentials/token'],
    [{ credentials: { method: 'Bearer', token: 'a b' } }, '/credentials/token'],
  ])('may not be %j', (input, path) => expect(wrong(input)).toEqual([path]));

  it('is refused with all problems at once, without its secrets', () => {
    const issues = checkMonitor({
      name: '',
      url: 'https://me:hunter2@receiver.example',
      credentials: { method: 'Bearer', token: 'hunter2 hunter2' },
    });
    expect(issues.map(({ path }) => path)).toEqual(['/name', '/url', '/credentials/token']);
    expect(JSON.stringify(issues)).not.toContain('hunter2');
  });

  it('lists events once, in order, and the e-mail event by its configured name too', () => {
    expect(readEventNames(['status', 'name', 'Status', 'stakeholder'])).toEqual(['name', 'status', 'stakeholders']);
    const options = { emailEvent: 'mail' };
    expect(checkMonitor({ events: ['mail'] }, options)).toEqual([]);
    expect(readEventNames(['mail'], options)).toEqual(['email']);
    expect(wrong({ events: ['mail'] })).toEqual(['/events/0']);
  });
});
