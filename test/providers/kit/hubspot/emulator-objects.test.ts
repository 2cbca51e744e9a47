import { describe, expect, it } from 'vitest';
import type { HubspotEmulator } from '../../../../providers/kit/hubspot/emulator.ts';
import { call, resultIds } from '../../hubspot/raw.ts';
import { openBench } from '../../hubspot/setup.ts';

const OBJECTS = '/crm/objects/2026-09';
const PROPERTIES = '/crm/properties/2026-09/companies';

/** Any method, past the provider. */
async function send(emulator: HubspotEmulator, method: string, path: string, body: unknown) {
  const answer = await fetch(`${emulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${String(emulator.settings.accessToken)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

const noteOn = (id: string, rest: object = {}, typeId = 190) => ({
  properties: { hs_timestamp: '2026-06-10T12:00:00Z', hs_note_body: 'x', ...rest },
  associations: [{ to: { id }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: typeId }] }],
});

describe('an emulated account is strict', () => {
  it.each<[string, unknown, RegExp]>([
    ['without a name and a domain', { properties: { city: 'Sorø' } }, /name or a domain/],
    ['with an unknown property', { properties: { name: 'A', no_such: 'x' } }, /PROPERTY_DOESNT_EXIST/],
    ['with a number', { properties: { name: 'A', numberofemployees: 5 } }, /no string/],
    [
      'with a number another one has',
      { properties: { name: 'A', cvr_number: '11111111' } },
      /CONFLICTING_UNIQUE_VALUE/,
    ],
  ])('with a company %s', async (_label, body, message) => {
    const { emulator } = await openBench();
    emulator.add({ name: 'Old', cvr_number: '11111111' });
    expect(await call(emulator, '', body)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(message) },
    });
  });

  it('with rules of the portal, from version 2026-09 on', async () => {
    const { emulator } = await openBench({ required: [{ when: 'phone', needs: 'city' }] });
    const body = { properties: { name: 'A', phone: '12345678' } };
    expect((await call(emulator, `${OBJECTS}/companies`, body)).status).toBe(400);
    expect((await call(emulator, '/crm/v3/objects/companies', body)).status).toBe(201);
  });

  it('with notes: their time, length, properties, label and company', async () => {
    const { emulator } = await openBench();
    const [id, other] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
    const post = async (body: unknown) => (await call(emulator, `${OBJECTS}/notes`, body)).status;
    expect(await post(noteOn(id))).toBe(201);
    expect(await post(noteOn(id, { hs_timestamp: 'soon' }))).toBe(400);
    expect(await post(noteOn(id, { hs_note_body: 'x'.repeat(65_537) }))).toBe(400);
    expect(await post(noteOn(id, { title: 'x' }))).toBe(400);
    expect(await post(noteOn(id, {}, 189))).toBe(400);
    emulator.merge(id, other);
    expect(await post(noteOn(id))).toBe(400);
  });

  it('with properties: name, group, matching types, and ten unique ones', async () => {
    const { emulator } = await openBench();
    const good = { name: 'own', label: 'Own', type: 'string', fieldType: 'text', groupName: 'companyinformation' };
    const post = async (rest: object) => (await call(emulator, PROPERTIES, { ...good, ...rest })).status;
    expect(await post({ name: 'Own' })).toBe(400);
    expect(await post({ label: '' })).toBe(400);
    expect(await post({ groupName: 'nowhere' })).toBe(400);
    expect(await post({ type: 'number' })).toBe(400);
    expect(await post({ type: 'bool', fieldType: 'booleancheckbox' })).toBe(400);
    expect(await post({})).toBe(201);
    expect(await post({})).toBe(409);
    for (let i = 0; i < 9; i += 1) expect(await post({ name: `unique_${i}`, hasUniqueValue: true })).toBe(201);
    expect(await post({ name: 'unique_9', hasUniqueValue: true })).toBe(400);
    expect((await call(emulator, `${PROPERTIES}/groups`, { name: 'companyinformation', label: 'x' })).status).toBe(409);
  });

  it('with parents: one each, no circle, labels it knows, both companies there', async () => {
    const { emulator } = await openBench();
    const [a = '', b = '', c = ''] = ['A', 'B', 'C'].map((name) => emulator.add({ name }));
    const put = async (from: string, to: string, associationTypeId = 14, associationCategory = 'HUBSPOT_DEFINED') => {
      const path = `${OBJECTS}/companies/${from}/associations/companies/${to}`;
      return (await send(emulator, 'PUT', path, [{ associationCategory, associationTypeId }])).status;
    };
    expect(await put(a, b)).toBe(201);
    expect(await put(a, c)).toBe(400);
    expect(await put(b, a)).toBe(400);
    expect(await put(b, c)).toBe(201);
    expect(await put(c, a)).toBe(400);
    expect(await put(a, b, 99)).toBe(400);
    expect(await put(a, b, 14, 'USER_DEFINED')).toBe(400);
    expect(await put(a, '77')).toBe(404);
    expect(emulator.parent(a)).toBe(b);
    emulator.remove(b);
    expect(emulator.parent(a)).toBeNull();
    emulator.restore(b);
    expect(emulator.parent(a)).toBe(b);
  });

  it('with versions: associations are in version 4 and the dated ones, records are not in version 4', async () => {
    const { emulator } = await openBench();
    const id = emulator.add({ name: 'A' });
    const status = async (path: string) => (await call(emulator, path)).status;
    expect(await status(`/crm/v4/objects/companies/${id}/associations/notes`)).toBe(200);
    expect(await status(`${OBJECTS}/companies/${id}/associations/notes`)).toBe(200);
    expect(await status(`/crm/v3/objects/companies/${id}/associations/notes`)).toBe(404);
    expect(await status(`/crm/v4/objects/companies/${id}`)).toBe(404);
    expect(await status(`/crm/v3/objects/contacts/${id}`)).toBe(404);
  });

  it.each([
    ['companies', { properties: { name: 'A' } }, 'crm.objects.companies.write'],
    ['notes', noteOn('1'), 'crm.objects.contacts.write'],
    ['notes/batch/read', { inputs: [] }, 'crm.objects.contacts.read'],
  ])('with the scopes of %s', async (path, body, scope) => {
    const { emulator } = await openBench({ scopes: ['crm.objects.companies.read'] });
    const answer = await call(emulator, `${OBJECTS}/${path}`, body);
    expect(answer).toMatchObject({ status: 403, body: { category: 'MISSING_SCOPES' } });
    expect(JSON.stringify(answer.body)).toContain(scope);
  });
});

describe('a deleted company of an emulated account', () => {
  it('is listed and read only when asked for, and comes back under its id with all it had', async () => {
    const { emulator } = await openBench();
    const [a, b] = [emulator.add({ name: 'A', cvr_number: '11111111' }), emulator.add({ name: 'B' })];
    emulator.remove(a);
    expect(resultIds(await call(emulator, '?archived=false'))).toEqual([b]);
    const archived = await call(emulator, '?archived=true');
    expect([resultIds(archived), archived.body]).toMatchObject([
      [a],
      { results: [{ archived: true, archivedAt: expect.stringMatching(/Z$/) }] },
    ]);
    expect((await call(emulator, a)).status).toBe(404);
    expect((await call(emulator, `${a}?archived=true`)).status).toBe(200);
    emulator.restore(a);
    expect(emulator.get(a)).toMatchObject({ name: 'A', cvr_number: '11111111' });
    expect(resultIds(await call(emulator, '?archived=true'))).toEqual([]);
    expect(() => emulator.restore(a)).toThrow(/cannot restore/);
  });

  it('stays deleted if another one has its unique value now, or if it was merged away', async () => {
    const { emulator } = await openBench();
    const a = emulator.add({ name: 'A', cvr_number: '11111111' });
    emulator.remove(a);
    const b = emulator.add({ name: 'B', cvr_number: '11111111' });
    expect(() => emulator.restore(a)).toThrow(/cannot restore/);
    emulator.merge(b, emulator.add({ name: 'C' }));
    expect(() => emulator.restore(b)).toThrow(/cannot restore/);
  });
});
