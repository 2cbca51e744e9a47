import { describe, expect, it } from 'vitest';
import { datedUrl } from '../../../providers/hubspot/client/exchange.ts';
import { faultFrom, live, openBench } from './setup.ts';

describe('the connection', () => {
  it('returns the account, its day and its time zone in one call', async () => {
    const { connection, calls } = await openBench({ portalId: 4_711, daily: 250_000 });
    const account = await connection.check(live());
    expect(account).toMatchObject({ id: '4711', name: expect.stringContaining('4711') });
    expect(account.notes.join('\n')).toMatch(/Europe\/Copenhagen[\s\S]*249998/);
    expect(calls()).toEqual(['GET /account-info/2026-09/details']);
  });

  it('waits for the account’s own midnight once the day is used up', async () => {
    let now = Date.parse('2026-06-10T21:00:00Z');
    const { connection } = await openBench({ daily: 2, timeZone: 'Europe/Copenhagen', now: () => now });
    await connection.check(live());
    const error = await faultFrom(connection.check(live()));
    expect(error.fault).toBe('rate');
    expect(Math.round((error.retryAfterMs ?? 0) / 1_000)).toBe(3_600);
    now += error.retryAfterMs ?? 0;
    expect((await connection.check(live())).id).not.toBe('');
  });

  it('describes properties as the account defines them', async () => {
    const { connection } = await openBench({
      properties: [
        { name: 'score', type: 'number', calculated: true },
        { name: 'colours', type: 'enumeration', fieldType: 'checkbox', options: ['red', 'blue'] },
        { name: 'direct', type: 'phone_number' },
        { name: 'margin', type: 'number', numberDisplayHint: 'percentage' },
      ],
    });
    const properties = new Map((await connection.properties(live())).map((property) => [property.name, property]));
    expect(properties.get('name')).toEqual({
      name: 'name',
      label: 'Company name',
      type: 'string',
      writable: true,
      maxLength: 65_536,
    });
    expect(properties.get('phone')).toMatchObject({ type: 'phone' });
    expect(properties.get('direct')).toMatchObject({ type: 'phone' });
    expect(properties.get('description')).toMatchObject({ type: 'multiline' });
    expect(properties.get('cvr_number')).toMatchObject({ type: 'string', unique: true });
    expect(properties.get('cvr_hold')).toMatchObject({ type: 'boolean', writable: true });
    expect(properties.get('cvr_start_date')).toMatchObject({ type: 'date' });
    expect(properties.get('cvr_changed_at')).toMatchObject({ type: 'datetime' });
    expect(properties.get('score')).toMatchObject({ type: 'number', writable: false });
    expect(properties.get('margin')).toMatchObject({ type: 'number', fraction: true });
    expect(properties.get('hs_object_id')).toMatchObject({ writable: false });
    expect(properties.get('colours')).toMatchObject({
      type: 'enumeration',
      options: [{ value: 'red' }, { value: 'blue' }],
    });
  });

  it('returns the currency in which the account shows amounts, and the source of its domains', async () => {
    const { connection } = await openBench({ currency: 'EUR' });
    expect((await connection.check(live())).currency).toBe('EUR');
    const properties = new Map((await connection.properties(live())).map((property) => [property.name, property]));
    expect(properties.get('annualrevenue')).toMatchObject({ money: true, currency: 'EUR' });
    expect(properties.get('cvr_revenue')?.money).toBeUndefined();
    expect(properties.get('website')).toMatchObject({ ownSite: true });
    expect(properties.get('cvr_website')?.ownSite).toBeUndefined();
  });

  it('names the scope it lacks', async () => {
    const { emulator, connection } = await openBench({ scopes: ['crm.objects.companies.read'] });
    const id = emulator.add({ name: 'A' });
    expect((await connection.read([id], ['name'], live()))[0]?.kind).toBe('found');
    const error = await faultFrom(connection.update([{ id, properties: { name: 'x' } }], live()));
    expect([error.fault, error.message]).toEqual(['refused', expect.stringContaining('crm.objects.companies.write')]);
  });

  it('is refused when the token is revoked during a run, and continues when it is back', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ name: 'A' });
    emulator.revoke();
    expect((await faultFrom(connection.read([id], ['name'], live()))).fault).toBe('auth');
    emulator.reinstate();
    expect((await connection.read([id], ['name'], live()))[0]?.kind).toBe('found');
  });

  it('keeps to the API version of the settings', async () => {
    const { emulator, connection, calls } = await openBench({}, { apiVersion: 'v3' });
    const id = emulator.add({ name: 'A' });
    await connection.check(live());
    await connection.read([id], ['name'], live());
    await connection.update([{ id, properties: { name: 'B' } }], live());
    expect(calls()).toEqual([
      'GET /account-info/v3/details',
      'POST /crm/v3/objects/companies/batch/read',
      'POST /crm/v3/objects/companies/batch/update',
    ]);
  });

  it('does not follow a redirect with the token', async () => {
    const { emulator, connection, http } = await openBench();
    emulator.fault({
      match: 'account-info',
      action: { kind: 'status', status: 307, headers: { location: `${emulator.url}/elsewhere` } },
    });
    const before = http.requests.length;
    expect((await faultFrom(connection.check(live()))).fault).toBe('unavailable');
    expect(http.requests.length - before).toBe(1);
    expect(emulator.calls.some((call) => call.path === '/elsewhere')).toBe(false);
  });
});

describe('a path of the client', () => {
  it.each([
    ['/crm/v3/objects/companies', '/crm/objects/2026-09/companies'],
    ['/crm/v3/objects/companies/batch/read', '/crm/objects/2026-09/companies/batch/read'],
    ['/crm/v3/objects/companies?after=/crm/v3/objects/x', '/crm/objects/2026-09/companies?after=/crm/v3/objects/x'],
    ['/crm/v3/properties/companies?archived=false', '/crm/properties/2026-09/companies?archived=false'],
    ['/account-info/v3/details', '/account-info/2026-09/details'],
    ['/crm/v3/objects/notes/batch/read', '/crm/objects/2026-09/notes/batch/read'],
    ['/crm/v3/properties/companies/groups', '/crm/properties/2026-09/companies/groups'],
    ['/crm/v3/property-validations/0-2', '/crm/property-validations/2026-09/0-2'],
    ['/crm-object-schemas/v3/schemas/0-2', '/crm-object-schemas/2026-09/schemas/0-2'],
    [
      '/crm/v4/objects/companies/1/associations/companies/2',
      '/crm/objects/2026-09/companies/1/associations/companies/2',
    ],
    [
      '/crm/v4/associations/companies/companies/batch/labels/archive',
      '/crm/associations/2026-09/companies/companies/batch/labels/archive',
    ],
  ])('%s becomes %s', (path, dated) => {
    expect(datedUrl(`https://api.hubapi.com${path}`, '2026-09')).toBe(`https://api.hubapi.com${dated}`);
    expect(datedUrl(`https://api.hubapi.com${path}`, 'v3')).toBe(`https://api.hubapi.com${path}`);
  });
});
