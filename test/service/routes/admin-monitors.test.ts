import { describe, expect, it } from 'vitest';
import { getMonitor } from '../../../src/service/monitors/monitors.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Answer, type Harness, openHarness, problemsIn } from './harness.ts';

const MONITORS = '/admin/api/monitors';
const NOBODY = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

interface View {
  readonly id: string;
  readonly signingSecret: string;
  readonly [name: string]: unknown;
}
// What the test reads of an answer is then held against what was asked.
const viewOf = ({ json }: Answer): View => json as View;

const make = (harness: Harness, body: object = {}) =>
  harness.call('POST', MONITORS, { body: { name: 'Nordlys', url: 'https://hooks.example.com/a', ...body } });

describe.each(SUITE_ENGINES)('monitors on %s', (engine) => {
  it('are created, read, changed and removed', async () => {
    const harness = await openHarness(engine);
    const made = await make(harness, {
      entities: ['CVR-1-10000001', 'cvr-3-4000000001'],
      events: ['status', 'stakeholder'],
      credentials: { method: 'Header', key: 'X-Key', value: 'open-sesame' },
      emails: ['anna@example.com'],
      schedule: [0, 60],
      postsPerMinute: 90,
    });
    expect(made.status).toBe(201);
    const { id, signingSecret } = viewOf(made);
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const read = await harness.call('GET', `${MONITORS}/${id}`);
    const shown = {
      id,
      name: 'Nordlys',
      owner: null,
      provider: null,
      target: 'items',
      events: ['status', 'stakeholders'],
      url: 'https://hooks.example.com/•••',
      credentials: { method: 'Header', key: 'X-Key' },
      signingSecrets: [{ expiresAt: null }],
      schedule: [0, 60],
      postsPerMinute: 90,
      emails: ['anna@example.com'],
      mailFrequency: 'daily',
      enabled: true,
      enabledAt: expect.any(String),
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      failedAttempts: 0,
      createdAt: expect.any(String),
    };
    expect(read.json).toEqual(shown);
    expect(made.json).toEqual({ ...shown, signingSecret });

    const changed = await harness.call('PATCH', `${MONITORS}/${id}`, {
      body: {
        name: 'Nordlys Vest',
        url: null,
        events: null,
        mailFrequency: 'immediate',
        credentials: { method: 'None' },
      },
    });
    expect(changed.json).toEqual({
      ...shown,
      name: 'Nordlys Vest',
      url: null,
      events: null,
      mailFrequency: 'immediate',
      credentials: { method: 'None' },
    });
    expect((await harness.call('GET', `${MONITORS}/${id}`)).json).toEqual(changed.json);
    const second = viewOf(await make(harness, { target: 'all', enabled: false }));
    const all = await harness.call('GET', MONITORS);
    expect(new Set((all.json as View[]).map((view) => view.id))).toEqual(new Set([id, second.id]));
    expect((await harness.call('DELETE', `${MONITORS}/${id}`)).status).toBe(204);
    expect((await harness.call('GET', MONITORS)).json).toEqual([
      expect.objectContaining({ id: second.id, enabled: false }),
    ]);
  });

  it('are disabled and enabled, and given a new secret', async () => {
    const harness = await openHarness(engine);
    const { id, signingSecret } = viewOf(await make(harness));
    for (let time = 0; time < 2; time++)
      expect((await harness.call('POST', `${MONITORS}/${id}/disable`)).status).toBe(204);
    expect((await harness.call('GET', `${MONITORS}/${id}`)).json).toMatchObject({
      enabled: false,
      disabledReason: 'person',
    });
    for (let time = 0; time < 2; time++)
      expect((await harness.call('POST', `${MONITORS}/${id}/activate`)).status).toBe(204);
    expect((await harness.call('GET', `${MONITORS}/${id}`)).json).toMatchObject({
      enabled: true,
      disabledReason: null,
    });
    const rotated = viewOf(await harness.call('POST', `${MONITORS}/${id}/rotate-secret`));
    expect(rotated.signingSecret).not.toBe(signingSecret);
    expect(rotated['signingSecrets']).toEqual([{ expiresAt: null }, { expiresAt: expect.any(String) }]);
    const monitor = await getMonitor(harness.store.db, harness.secrets, id);
    expect(monitor?.security.secrets.map(({ secret }) => secret)).toEqual([rotated.signingSecret, signingSecret]);
  });

  it('have lists that are extended, reduced and paged', async () => {
    const harness = await openHarness(engine);
    const { id } = viewOf(await make(harness, { entities: ['CVR-1-10000001', 'CVR-1-10000002'] }));
    const items = `${MONITORS}/${id}/items`;
    for (let time = 0; time < 2; time++)
      expect((await harness.call('POST', items, { body: { entityId: 'CVR-1-10000003' } })).status).toBe(204);
    for (let time = 0; time < 2; time++)
      expect((await harness.call('DELETE', `${items}?entityId=CVR-1-10000001`)).status).toBe(204);
    const first = (await harness.call('GET', `${items}?take=1`)).json as { continuationToken: string };
    expect(first).toEqual({
      results: [{ entityId: 'CVR-1-10000002', recordId: '', created: expect.any(String) }],
      continuationToken: expect.any(String),
    });
    const rest = await harness.call('GET', `${items}?continuationToken=${first.continuationToken}`);
    expect(rest.json).toEqual({ results: [expect.objectContaining({ entityId: 'CVR-1-10000003' })] });
    expect((await harness.call('GET', `${items}?continuationToken=x`)).status).toBe(422);
  });
});

describe('a secret', () => {
  it('is shown once and never again, and is not in the log', async () => {
    const harness = await openHarness();
    const credentials = { method: 'BasicAuth', key: 'anna', value: 'hunter2-of-anna' };
    const made = await make(harness, { credentials });
    const { id, signingSecret } = viewOf(made);
    const rotated = viewOf(await harness.call('POST', `${MONITORS}/${id}/rotate-secret`));
    const bearer = { credentials: { method: 'Bearer', token: 'token-of-anna' } };
    const answers = [
      await harness.call('GET', MONITORS),
      await harness.call('GET', `${MONITORS}/${id}`),
      await harness.call('PATCH', `${MONITORS}/${id}`, { body: bearer }),
      await harness.call('PATCH', `${MONITORS}/${id}`, { body: { ...bearer, name: '' } }),
      await harness.call('POST', `${MONITORS}/${id}/activate`),
    ];
    const told = `${made.text} ${JSON.stringify(harness.logged)} ${answers.map(({ text }) => text).join(' ')}`;
    for (const secret of ['hunter2-of-anna', 'token-of-anna']) expect(told).not.toContain(secret);
    for (const { text } of answers) {
      expect(text).not.toContain(signingSecret);
      expect(text).not.toContain(rotated.signingSecret);
    }
    expect(viewOf(await harness.call('GET', `${MONITORS}/${id}`))['credentials']).toEqual({ method: 'Bearer' });
  });
});

describe('an invalid monitor', () => {
  it.each([
    ['no name', { name: undefined }, 'body.name is missing'],
    ['an empty name', { name: '' }, 'body.name '],
    ['an event that is none', { events: ['weather'] }, 'body.events.0 '],
    ['an address that is none', { url: 'hooks' }, 'body.url '],
    ['an address with a NUL', { url: 'https://hooks.example.com/\0' }, 'body.url'],
    ['an address of a file', { url: 'file:///etc/passwd' }, 'body.url '],
    ['a schedule without an attempt', { schedule: [] }, 'body.schedule '],
    ['a schedule in the past', { schedule: [-1] }, 'body.schedule.0 '],
    ['a recipient that is none', { emails: ['anna'] }, 'body.emails.0 '],
    ['credentials of an unknown kind', { credentials: { method: 'Kerberos' } }, 'body.credentials'],
    ['a company that is none', { entities: ['CVR-1-10000001', 'Nordlys'] }, 'body.entities.1 '],
    ['what nobody knows', { colour: 'red' }, 'body.colour is not known'],
    ['an owner', { owner: NOBODY }, 'body.owner is not known'],
  ])('because of %s answers 422 and names the place', async (_what, body, problem) => {
    const harness = await openHarness();
    const answer = await make(harness, body);
    expect(answer.status).toBe(422);
    expect(problemsIn(answer)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
    expect((await harness.call('GET', MONITORS)).json).toEqual([]);
  });

  it.each([
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/activate'],
    ['POST', '/disable'],
    ['POST', '/rotate-secret'],
    ['GET', '/items'],
    ['POST', '/items'],
    ['DELETE', '/items?entityId=CVR-1-10000001'],
  ])('that does not exist answers 404: %s %s', async (method, rest) => {
    const harness = await openHarness();
    const body = { PATCH: { name: 'x' }, POST: rest === '/items' ? { entityId: 'CVR-1-10000001' } : undefined }[method];
    const answer = await harness.call(method, `${MONITORS}/${NOBODY}${rest}`, { body });
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ httpStatusCode: 404 });
  });
});
