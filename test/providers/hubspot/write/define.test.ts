import { describe, expect, it } from 'vitest';
import { hubspot } from '../../../../providers/hubspot/provider.ts';
import { HUBSPOT_DEFINITIONS } from '../../../../providers/hubspot/write/custom-properties.ts';
import type { AccountRule, Defined, PropertyDefinition } from '../../../../providers/provider.ts';
import { call } from '../raw.ts';
import { type Bench, faultFrom, live, openBench } from '../setup.ts';

const names = HUBSPOT_DEFINITIONS.map(({ name }) => name);

async function define({ connection }: Bench, definitions = HUBSPOT_DEFINITIONS): Promise<readonly Defined[]> {
  if (connection.defineProperties === undefined) throw new Error('the connection does not define properties');
  return connection.defineProperties(definitions, live());
}

async function rulesOf({ connection }: Bench): Promise<readonly AccountRule[]> {
  if (connection.rules === undefined) throw new Error('the connection does not tell rules');
  return connection.rules(live());
}

const isCreate = (call: string) => /^POST .*\/properties\/2026-09\/companies$/.test(call);

describe('creating the properties of this product', () => {
  it('creates all of them in an account that has none, once', async () => {
    const bench = await openBench({ missingProperties: names });
    expect(await define(bench)).toEqual(names.map((name) => ({ name, kind: 'created' })));
    expect(bench.calls().filter(isCreate)).toHaveLength(names.length);
    const made = new Map((await bench.connection.properties(live())).map((property) => [property.name, property]));
    for (const { name, label, type, unique } of HUBSPOT_DEFINITIONS) {
      const shown = type === 'url' ? 'string' : type;
      expect(made.get(name)).toMatchObject({ name, label, type: shown, writable: true });
      expect(made.get(name)?.unique ?? false).toBe(unique ?? false);
    }
    bench.calls();
    expect(await define(bench)).toEqual(names.map((name) => ({ name, kind: 'exists' })));
    expect(bench.calls()).toEqual(['GET /crm/properties/2026-09/companies']);
  });

  it('has a year shown without a thousands separator', async () => {
    const bench = await openBench({ missingProperties: ['cvr_report_year', 'cvr_employees'] });
    await define(bench);
    const hintOf = async (name: string): Promise<unknown> => {
      const { body } = await call(bench.emulator, `/crm/properties/2026-09/companies/${name}`);
      return body.numberDisplayHint;
    };
    expect([await hintOf('cvr_report_year'), await hintOf('cvr_employees')]).toEqual(['unformatted', undefined]);
  });

  it('creates one that can be written and found by at once', async () => {
    const bench = await openBench({ missingProperties: ['cvr_number', 'cvr_hold'] });
    await define(bench);
    const id = bench.emulator.add({ name: 'A', cvr_number: '12345678', cvr_hold: true });
    expect(await bench.connection.find?.('cvr_number', '12345678', live())).toMatchObject({
      records: [{ id }],
      sure: true,
    });
    expect(await bench.connection.read([id], ['cvr_hold'], live())).toMatchObject([{ properties: { cvr_hold: true } }]);
  });

  it('has every definition of the preset, including properties that are only read', () => {
    expect(hubspot.definitions).toBe(HUBSPOT_DEFINITIONS);
    expect(names).toEqual(expect.arrayContaining(['cvr_number', 'cvr_hold']));
    const own = hubspot.preset.filter(({ optional }) => optional === true).map(({ property }) => property);
    expect(own.filter((property) => !names.includes(property))).toEqual([]);
  });

  it('names the missing scope for each missing property', async () => {
    const scopes = ['crm.objects.companies.read', 'crm.objects.companies.write'];
    const bench = await openBench({ missingProperties: ['cvr_number', 'cvr_city'], scopes });
    const outcomes = await define(bench);
    expect(outcomes.filter(({ kind }) => kind === 'refused').map(({ name }) => name)).toEqual([
      'cvr_number',
      'cvr_city',
    ]);
    for (const outcome of outcomes)
      if (outcome.kind === 'refused') expect(outcome.reason).toContain('crm.schemas.companies.write');
  });

  it('continues if one is refused, because a deleted one keeps its name', async () => {
    const bench = await openBench({ missingProperties: ['cvr_name', 'cvr_city'], deletedProperties: ['cvr_name'] });
    const outcomes = await define(bench);
    expect(outcomes.find(({ name }) => name === 'cvr_name')).toEqual({
      name: 'cvr_name',
      kind: 'refused',
      reason: expect.stringMatching(/already exists.*deleted property keeps its name/),
    });
    expect(outcomes.find(({ name }) => name === 'cvr_city')).toEqual({ name: 'cvr_city', kind: 'created' });
  });

  it('gives the reason if the account has ten unique properties', async () => {
    const properties = Array.from({ length: 10 }, (_, i) => ({ name: `unique_${i}`, hasUniqueValue: true }));
    const bench = await openBench({ missingProperties: ['cvr_number'], properties });
    expect((await define(bench))[0]).toMatchObject({ kind: 'refused', reason: expect.stringContaining('at most 10') });
  });

  it('counts one that somebody else created meanwhile as existing', async () => {
    const bench = await openBench({ missingProperties: ['cvr_city'] });
    bench.emulator.fault({
      match: 'GET .*/groups$',
      action: {
        kind: 'status',
        status: 200,
        body: { results: [{ name: 'cvr_register', label: 'x', archived: false }] },
      },
    });
    bench.emulator.fault({
      match: 'POST .*/2026-09/companies$',
      action: { kind: 'status', status: 409, body: { message: 'exists' } },
    });
    bench.emulator.fault({
      match: 'GET .*/companies/cvr_city$',
      action: { kind: 'status', status: 200, body: { name: 'cvr_city', archived: false } },
    });
    expect((await define(bench)).find(({ name }) => name === 'cvr_city')).toEqual({ name: 'cvr_city', kind: 'exists' });
  });

  it('ends with the fault if the connection cannot continue, and is completed by a retry', async () => {
    const missing = ['cvr_name', 'cvr_city', 'cvr_hold'];
    const bench = await openBench({ missingProperties: missing });
    const match = 'POST .*/properties/2026-09/companies$';
    bench.emulator.fault({ match, after: 1, action: { kind: 'reset', applied: true } });
    expect((await faultFrom(define(bench))).fault).toBe('unavailable');
    bench.emulator.fault({ match, action: { kind: 'status', status: 429, body: { policyName: 'DAILY' } } });
    expect((await faultFrom(define(bench))).fault).toBe('rate');
    await define(bench);
    expect((await define(bench)).every(({ kind }) => kind === 'exists')).toBe(true);
    expect((await bench.connection.properties(live())).filter(({ name }) => missing.includes(name))).toHaveLength(3);
  });

  it('creates properties of every kind', async () => {
    const types: PropertyDefinition['type'][] = ['string', 'multiline', 'number', 'boolean', 'date', 'datetime', 'url'];
    const bench = await openBench();
    const outcomes = await define(
      bench,
      types.map((type) => ({ name: `own_${type}`, label: type, type })),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(types.map(() => 'created'));
    const properties = await bench.connection.properties(live());
    expect(types.map((type) => properties.find(({ name }) => name === `own_${type}`)?.type)).toEqual([
      ...types.slice(0, -1),
      'string',
    ]);
  });
});

describe('removing properties', () => {
  const remove = ({ connection }: Bench, names: readonly string[]) => connection.removeProperties?.(names, live());

  it('archives those named and no other, once', async () => {
    const bench = await openBench();
    const before = (await bench.connection.properties(live())).map(({ name }) => name);
    bench.calls();
    expect(await remove(bench, ['cvr_city', 'no_such'])).toEqual([
      { name: 'cvr_city', kind: 'removed' },
      { name: 'no_such', kind: 'absent' },
    ]);
    expect(bench.calls().slice(0, 2)).toEqual([
      'DELETE /crm/properties/2026-09/companies/cvr_city',
      'DELETE /crm/properties/2026-09/companies/no_such',
    ]);
    const after = (await bench.connection.properties(live())).map(({ name }) => name);
    expect(before.filter((name) => !after.includes(name))).toEqual(['cvr_city']);
    expect(await remove(bench, ['cvr_city'])).toEqual([{ name: 'cvr_city', kind: 'absent' }]);
  });

  it('gives the reason if one stays, and removes the others', async () => {
    const bench = await openBench();
    const used = { message: 'Property is in use by 2 workflows', category: 'VALIDATION_ERROR' };
    bench.emulator.fault({ match: 'DELETE .*/cvr_city$', action: { kind: 'status', status: 400, body: used } });
    const outcomes = await remove(bench, ['name', 'cvr_city', 'cvr_form']);
    expect(outcomes?.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'removed']);
    expect(outcomes?.[1]?.reason).toMatch(/2 workflows; or archive it in HubSpot/);
  });

  it('names the missing scope', async () => {
    const scopes = ['crm.objects.companies.read', 'crm.objects.companies.write'];
    const outcomes = await remove(await openBench({ scopes }), ['cvr_city', 'cvr_form']);
    for (const { kind, reason } of outcomes ?? [])
      expect([kind, reason]).toEqual(['refused', expect.stringMatching(/crm\.schemas\.companies\.write.*archive it/)]);
    expect(outcomes).toHaveLength(2);
  });

  it('is completed by a retry if an answer was lost', async () => {
    const bench = await openBench();
    bench.emulator.fault({ match: 'DELETE .*/cvr_city$', action: { kind: 'reset', applied: true } });
    expect((await faultFrom(Promise.resolve(remove(bench, ['cvr_city'])))).fault).toBe('unavailable');
    expect(await remove(bench, ['cvr_city'])).toEqual([{ name: 'cvr_city', kind: 'absent' }]);
  });
});

describe('the rules of an account', () => {
  it('are its required properties, its validation rules, and what must be unique', async () => {
    const bench = await openBench({
      requiredProperties: ['phone'],
      validations: [{ property: 'zip', ruleType: 'ALPHANUMERIC', ruleArguments: ['NUMERIC_ONLY'] }],
    });
    expect(await rulesOf(bench)).toEqual([
      { kind: 'required', name: 'phone', about: 'a company must have Phone Number (phone)' },
      { kind: 'validation', name: 'ALPHANUMERIC', about: 'Postal Code (zip): NUMERIC_ONLY' },
      { kind: 'duplicate', name: 'cvr_number', about: 'two companies may not have the same CVR number (cvr_number)' },
    ]);
  });

  it('are returned as far as the token may see them', async () => {
    const hidden = await openBench({ validations: 'hidden', requiredProperties: ['phone'] });
    expect((await rulesOf(hidden)).map(({ kind }) => kind)).toEqual(['required', 'duplicate']);
    const bench = await openBench({ scopes: ['crm.objects.companies.read'] });
    bench.emulator.fault({ match: 'GET .*/schemas/', action: { kind: 'status', status: 404 } });
    expect((await rulesOf(bench)).map(({ kind }) => kind)).toEqual(['duplicate']);
  });

  it.each([
    [429, 'rate'],
    [502, 'unavailable'],
    [401, 'auth'],
  ] as const)('end with a fault at %d', async (status, fault) => {
    const bench = await openBench();
    bench.emulator.fault({ match: 'property-validations', action: { kind: 'status', status } });
    expect((await faultFrom(rulesOf(bench))).fault).toBe(fault);
  });
});
