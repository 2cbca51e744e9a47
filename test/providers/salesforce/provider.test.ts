/** The provider as data: settings, preset, limits, properties. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import type { Field } from '../../../providers/fields.ts';
import { FIELDS, isFieldName } from '../../../providers/fields.ts';
import { SalesforceSettings } from '../../../providers/salesforce/client/salesforce-settings.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { live, openBench, settingsOf } from './setup.ts';

const auth = { flow: 'client-credentials', clientId: 'app', clientSecret: 'x' };

describe('the Salesforce provider', () => {
  it('has defaults for everything but the credentials', () => {
    expect(settingsOf({ auth })).toEqual({
      loginUrl: 'https://login.salesforce.com',
      auth,
      apiVersion: '67.0',
      rate: { calls: 20, perSeconds: 1 },
      concurrency: 5,
      dailyShare: 0.8,
      noteAs: 'Task',
      object: 'Account',
      allowDuplicates: true,
    });
  });

  it.each([
    [{ auth: { ...auth, password: 'x' } }],
    [{ auth: { flow: 'password', username: 'a', password: 'b' } }],
    [{ auth: { flow: 'client-credentials', clientId: 'app' } }],
    [{ auth, apiVersion: '67' }],
    [{ auth, loginUrl: 'login.salesforce.com' }],
    [{ auth, object: 'Lead' }],
    [{}],
  ])('refuses the settings %j', (given) => {
    expect(Value.Check(SalesforceSettings, Value.Default(SalesforceSettings, structuredClone(given)))).toBe(false);
  });

  it('marks every secret, and describes every setting', () => {
    const flows = SalesforceSettings.properties.auth.anyOf;
    const secrets = flows.flatMap((flow) =>
      Object.entries(flow.properties).flatMap(([name, schema]) => ('secret' in schema ? [name] : [])),
    );
    expect(secrets).toEqual(['clientSecret', 'privateKey', 'clientSecret', 'refreshToken']);
    for (const schema of Object.values(SalesforceSettings.properties)) {
      expect('description' in schema || 'default' in schema).toBe(true);
    }
  });

  it('paces by the settings, 200 records a call', () => {
    expect(salesforce.limits(settingsOf({ auth, rate: { calls: 5, perSeconds: 2 }, concurrency: 3 }))).toEqual({
      batch: { read: 200, update: 200 },
      concurrency: 3,
      budgets: { default: { calls: 5, perMs: 2_000 } },
    });
  });

  it('opens nothing on import', async () => {
    const script = `await import(${JSON.stringify(new URL('../../../providers/salesforce/provider.ts', import.meta.url).href)});
      const { createRequire } = await import('node:module');
      console.log(Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('jsforce')));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout.trim()).toBe('false');
  });

  it('has a preset that fits the org field by field, and names no persons', async () => {
    const { connection } = await openBench({ countries: { DK: 'Denmark' } });
    const properties = new Map((await connection.properties(live())).map((property) => [property.name, property]));
    for (const { field, property, policy } of salesforce.preset) {
      expect(isFieldName(field)).toBe(true);
      const known: Field = FIELDS[field];
      expect(known.persons).toBeUndefined();
      expect(properties.get(property)).toMatchObject({ writable: true });
      expect(policy).toBe(property.endsWith('__c') ? 'always' : 'tracked');
    }
    expect(new Set(salesforce.preset.map((row) => row.property)).size).toBe(salesforce.preset.length);
  });
});

describe('properties', () => {
  it('carry type, length, options and whether they may be written', async () => {
    const fields = [{ name: 'Segment__c', type: 'picklist', values: ['A', 'B'], restricted: true }];
    const { connection } = await openBench({ fields, hiddenFields: ['Fax'] });
    const byName = Object.fromEntries(
      (await connection.properties(live())).map((property) => [property.name, property]),
    );
    expect(byName.Name).toEqual({
      name: 'Name',
      label: 'Account Name',
      type: 'string',
      writable: true,
      maxLength: 255,
    });
    expect(byName.Description).toMatchObject({ type: 'multiline', maxLength: 32_000 });
    expect(byName.CVR_Capital__c).toMatchObject({ type: 'number', scale: 2 });
    expect(byName.CVR_Number__c).toMatchObject({ unique: true });
    expect(byName.CVR_Hold__c).toMatchObject({ type: 'boolean' });
    expect(byName.Industry).toMatchObject({ type: 'enumeration', open: true });
    expect(byName.Segment__c).toEqual({
      name: 'Segment__c',
      label: 'Segment__c',
      type: 'enumeration',
      writable: true,
      options: [
        { value: 'A', label: 'A' },
        { value: 'B', label: 'B' },
      ],
    });
    expect(byName.BillingAddress).toMatchObject({ type: 'other', writable: false });
    expect(byName.SystemModstamp).toMatchObject({ type: 'datetime', writable: false });
    expect(byName.Fax).toBeUndefined();
  });
});

describe('check', () => {
  it('reaches an org whose user may not see Organization', async () => {
    const { connection } = await openBench({ organizationVisible: false });
    expect((await connection.check(live())).name).toMatch(/^Salesforce org 00D/);
  });
});
