/** An amount is never written without its currency being known beside it. */
import { describe, expect, it, test } from 'vitest';
import type { FieldName } from '../../../providers/fields.ts';
import type { Connection, Patch, Property, PropertyValue } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import { checkMapping } from '../../../src/connector/crm/check-mapping.ts';
import { mappedFields } from '../../../src/connector/crm/crm.ts';
import { type PlanInput, planRecord } from '../../../src/connector/decide/plan.ts';
import type { Planned } from '../../../src/connector/decide/planned.ts';
import type { Fact } from '../../../src/connector/facts/fact.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import type { Override } from '../../../src/connector/overrides/override.ts';
import { decidingProperties } from '../../../src/connector/sync/prepare.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { live, openBench } from '../../providers/salesforce/setup.ts';
import { crmOf } from '../../support/crm.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';

const AMOUNT = propertyOf('number', { name: 'capital' });
const CODE = propertyOf('string', { name: 'code' });
const MAPPING = [
  { field: 'capital', property: 'capital', policy: 'tracked' },
  { field: 'capitalCurrency', property: 'code', policy: 'tracked' },
] as const;

const fact = (field: FieldName, scalar: string | number | null, clock = '2026-03-01'): Fact => ({
  entity: ENTITY,
  field,
  clock,
  seq: 1,
  value: { scalar },
});
const factsOf = (...facts: readonly Fact[]) => new Map(facts.map((each) => [each.field, each]));
const HOLD: Override = { kind: 'hold', once: false, until: null, reason: null, createdAt: 0 };

interface Case extends Partial<PlanInput> {
  readonly properties?: readonly Property[];
}

/** What is planned if the register says 500,000 EUR: `property: action rule`. */
function plan({ properties = [AMOUNT, CODE], ...more }: Case = {}): readonly Planned[] {
  return planRecord({
    entity: ENTITY,
    mapping: MAPPING,
    values: {},
    persons: false,
    schema: new Map(properties.map((each) => [each.name, each])),
    facts: factsOf(fact('capital', 500_000), fact('capitalCurrency', 'EUR')),
    wholes: [],
    known: (field) => (field === 'capital' ? [40_000] : ['DKK']),
    remembered: new Map(),
    overrides: new Map(),
    trust: 'crm',
    crm: { capital: null, code: null },
    ...more,
  });
}
const shown = (planned: readonly Planned[]) =>
  planned.map(({ property, action, rule }) => `${property}: ${action} ${rule}`);
const only = MAPPING.slice(0, 1);

describe('an amount is never written without a known currency', () => {
  it('is written together with its currency, or if the record has the currency already', () => {
    expect(shown(plan())).toEqual(['capital: write blank', 'code: write blank']);
    expect(shown(plan({ crm: { capital: 40_000, code: 'EUR' } }))).toEqual([
      'capital: write register',
      'code: skip same',
    ]);
  });

  it('waits while the register states no currency for it', () => {
    const facts = factsOf(fact('capital', 500_000), fact('capitalCurrency', null));
    const planned = plan({ facts, crm: { capital: 40_000, code: 'DKK' } });
    expect(shown(planned)).toEqual(['capital: set-aside currency', 'code: skip together']);
    expect(planned[0]?.detail).toBe('the currency of this amount is not known');
  });

  it('is not taken to be in the currency of an older amount', () => {
    const facts = factsOf(fact('capital', 500_000, '2026-03-02'), fact('capitalCurrency', 'DKK', '2020-01-01'));
    expect(shown(plan({ facts }))[0]).toBe('capital: set-aside currency');
  });

  it('is not written if neither a property nor the account states a currency', () => {
    const planned = plan({ mapping: only });
    expect(shown(planned)).toEqual(['capital: skip currency']);
    expect(planned[0]?.detail).toContain('map capitalCurrency, or set currency');
  });

  it('is written without such a property only in the currency of the CRM', () => {
    expect(shown(plan({ mapping: only, currency: 'EUR' }))).toEqual(['capital: write blank']);
    expect(shown(plan({ mapping: only, currency: 'DKK' }))).toEqual(['capital: set-aside currency']);
  });

  it('is not written in another currency if the CRM shows amounts in its own', () => {
    const money = { properties: [{ ...AMOUNT, money: true as const }, CODE], currency: 'DKK' };
    expect(shown(plan(money))[0]).toBe('capital: set-aside currency');
    expect(shown(plan({ ...money, currency: 'EUR' }))[0]).toBe('capital: write blank');
  });

  it('is written only in the currency of the record or the property', () => {
    const inRecord = (iso: PropertyValue, more: Case = {}) =>
      shown(
        plan({
          ...more,
          properties: [{ ...AMOUNT, money: true, currencyIn: 'iso' }, CODE],
          crm: { capital: null, code: null, iso },
        }),
      )[0];
    expect(inRecord('EUR')).toBe('capital: write blank');
    expect(inRecord('DKK')).toBe('capital: set-aside currency');
    expect(inRecord('DKK', { currency: 'EUR' })).toBe('capital: set-aside currency');
    expect(inRecord(null, { currency: 'EUR' })).toBe('capital: set-aside currency');
    const inAccount = (currency: string) => shown(plan({ properties: [{ ...AMOUNT, money: true, currency }, CODE] }));
    expect(inAccount('EUR')).toEqual(['capital: write blank', 'code: write blank']);
    expect(inAccount('DKK')).toEqual(['capital: set-aside currency', 'code: write blank']);
    const unknown = plan({ properties: [{ ...AMOUNT, money: true }, CODE] })[0];
    expect(unknown).toMatchObject({
      action: 'skip',
      rule: 'currency',
      detail: expect.stringContaining('set currency'),
    });
  });

  it('of the example in the documents: the account shows it in one currency, and our own property in any', () => {
    const facts = factsOf(fact('revenue', 9_000), fact('reportCurrency', 'EUR'));
    const planned = plan({
      facts,
      mapping: [
        { field: 'revenue', property: 'annualrevenue', policy: 'tracked' },
        { field: 'revenue', property: 'cvr_revenue', policy: 'always' },
        { field: 'reportCurrency', property: 'cvr_report_currency', policy: 'always' },
      ],
      properties: [
        propertyOf('number', { name: 'annualrevenue', money: true, currency: 'DKK' }),
        propertyOf('number', { name: 'cvr_revenue' }),
        propertyOf('string', { name: 'cvr_report_currency' }),
      ],
      crm: { annualrevenue: 5_000, cvr_revenue: 5_000, cvr_report_currency: 'DKK' },
    });
    expect(shown(planned)).toEqual([
      'annualrevenue: keep edited',
      'cvr_revenue: write always',
      'cvr_report_currency: write always',
    ]);
  });

  const because = { action: 'skip', rule: 'together', detail: expect.stringContaining('code') } as const;
  it.each<[string, Case, Partial<Planned>]>([
    [
      'a person wrote another currency',
      { crm: { capital: 40_000, code: 'SEK' } },
      { action: 'keep', rule: 'edited', keptWith: 'code' },
    ],
    [
      'a person put the currency on hold',
      { crm: { capital: 40_000, code: 'DKK' }, overrides: new Map([['code', HOLD]]) },
      { action: 'skip', rule: 'held', override: HOLD },
    ],
    ['the currency cannot be written', { properties: [AMOUNT, { ...CODE, writable: false }] }, because],
    ['the currency does not fit', { properties: [AMOUNT, { ...CODE, maxLength: 2 }] }, because],
  ])('waits where %s', (_, given, expected) => {
    const [amount, code] = plan(given);
    expect(code?.action).not.toBe('write');
    expect(amount).toMatchObject(expected);
  });

  it('may be cleared in any currency', () => {
    const facts = factsOf(fact('capital', null), fact('capitalCurrency', null));
    expect(shown(plan({ facts, crm: { capital: 40_000, code: 'DKK' } }))).toEqual([
      'capital: write register',
      'code: write register',
    ]);
  });

  it('keeps its currency if it does not change: 40,000 DKK do not become 40,000 EUR', () => {
    const crm = { capital: 40_000, code: 'DKK' };
    expect(shown(plan({ crm, overrides: new Map([['capital', HOLD]]) }))).toEqual([
      'capital: skip held',
      'code: skip held',
    ]);
  });

  it("keeps its currency beside a person's amount: 1,234 DKK do not become 1,234 EUR", () => {
    const facts = factsOf(fact('result', 7_000), fact('revenue', 9_000), fact('reportCurrency', 'EUR'));
    const names = ['result', 'revenue', 'reportCurrency'] as const;
    const mapping = names.map((field) => ({ field, property: field, policy: 'tracked' }) as const);
    const properties = [
      propertyOf('number', { name: 'result' }),
      propertyOf('number', { name: 'revenue' }),
      propertyOf('string', { name: 'reportCurrency' }),
    ];
    const crm = { result: 5_000, revenue: 1_234, reportCurrency: 'DKK' };
    const known: PlanInput['known'] = (field) =>
      field === 'result' ? [5_000] : field === 'reportCurrency' ? ['DKK'] : [];
    const kept = plan({ facts, mapping, properties, crm, known });
    expect(shown(kept)).toEqual(['result: keep edited', 'revenue: keep edited', 'reportCurrency: keep edited']);
    expect(kept.map(({ keptWith = 'itself' }) => keptWith)).toEqual(['revenue', 'itself', 'revenue']);
    const blank = { ...crm, reportCurrency: null };
    expect(shown(plan({ facts, mapping, properties, crm: blank, known }))).toEqual([
      'result: write register',
      'revenue: keep edited',
      'reportCurrency: write blank',
    ]);
  });

  it('is reported by check if no amount can be written', () => {
    const provider = { name: 'crm', mapping: only, values: {}, match: undefined, hold: undefined };
    const said = (more: object) =>
      checkMapping({ ...provider, ...more }, [AMOUNT, CODE]).filter(({ found }) => found.startsWith('no amount'));
    expect(said({})).toMatchObject([{ level: 'fail', advice: expect.stringContaining('map capitalCurrency') }]);
    expect([said({ currency: 'DKK' }), said({ mapping: MAPPING })]).toEqual([[], []]);
    const ofMoney = (property: Partial<Property>, currency?: string) =>
      checkMapping({ ...provider, mapping: MAPPING, currency }, [{ ...AMOUNT, money: true, ...property }, CODE]);
    const capital = { subject: 'crm capital → capital' };
    expect(ofMoney({})).toContainEqual(expect.objectContaining({ ...capital, level: 'fail' }));
    expect(ofMoney({ currency: 'EUR' }, 'DKK')).toContainEqual(expect.objectContaining({ ...capital, level: 'warn' }));
    expect(ofMoney({ currencyIn: 'iso' }, 'DKK')).toContainEqual(
      expect.objectContaining({ ...capital, level: 'info' }),
    );
  });
});

test('an org with several currencies shows an amount in the currency of its record, which cvrsync reads', async () => {
  const { emulator, connection } = await openBench({ currencies: ['DKK', 'EUR'] });
  const ids = ['DKK', 'EUR'].map((CurrencyIsoCode) => emulator.add({ Name: CurrencyIsoCode, CurrencyIsoCode }));
  const schema = new Map((await connection.properties(live())).map((property) => [property.name, property]));
  const mapping = [{ field: 'revenue', property: 'AnnualRevenue', policy: 'tracked' }] as const;
  const crm = { mapping, match: undefined, hold: undefined };
  const names = decidingProperties({ crm, schema, match: undefined, records: [] });
  const reads = await connection.read(ids, names, live());
  const facts = factsOf(fact('revenue', 500_000), fact('reportCurrency', 'DKK'));
  const rules = reads.map((read) =>
    shown(plan({ mapping, schema, facts, crm: read.kind === 'found' ? read.properties : {}, currency: 'DKK' })),
  );
  expect(rules).toEqual([['AnnualRevenue: write blank'], ['AnnualRevenue: set-aside currency']]);
});

test.each(SUITE_ENGINES)(
  'an amount is not written while the CRM refuses its currency, and is written once it accepts it (%s)',
  async (engine) => {
    const store = await newStore(engine);
    const now = () => Date.UTC(2026, 2, 3);
    let options = CODE;
    let record: Record<string, PropertyValue> = { capital: 40_000, code: 'DKK' };
    const written: Patch[] = [];
    const connection: Connection = {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => [AMOUNT, options],
      read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: record })),
      update: async (patches) =>
        patches.map(({ id, properties }) => {
          if (options === CODE && properties.code !== undefined)
            return { kind: 'rejected', id, reason: 'no', properties: { code: 'not in the list' } };
          written.push({ id, properties });
          record = { ...record, ...properties };
          return { kind: 'written', id };
        }),
      scan: async () => ({ records: [] }),
    };
    const open = () => crmOf({ store, connection, mapping: MAPPING, properties: [AMOUNT, options], now });
    const sync = async () => {
      const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 9_000 });
      await syncRecords({ store, metrics: createMetrics(), now }, open(), claims, AbortSignal.timeout(60_000));
    };
    const say = async (key: string, value: number, hour: number) => {
      const rest = { hasClasses: null, isPartial: null };
      const before = { value: 40_000, currency: 'DKK', ...rest };
      const after = { value, currency: 'EUR', ...rest };
      const body = JSON.stringify(writePayload(reported({ capital: { before, after } }, hour)));
      const event = { key, entity: ENTITY, timestamp: `2026-03-02T0${hour}:00:00.000Z`, body };
      await store.write((tx) => insertReceipts(tx, [event], now()));
      const claims = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
      const deps = {
        store,
        wakeUp: createWakeUp(),
        metrics: createMetrics(),
        now,
        emailEvent: 'email',
        mapped: mappedFields([open()]),
      };
      await applyReceipts(deps, claims);
    };
    await store.write((tx) =>
      linkRecord(tx, { provider: 'crm', recordId: '7', entity: ENTITY, sendUpdate: false, now: now() }),
    );
    await say('a', 500_000, 8);
    await sync();
    expect([written, record]).toEqual([[], { capital: 40_000, code: 'DKK' }]);
    const states = await store.db
      .selectFrom('property_state')
      .select(['property', 'refused_reason'])
      .orderBy('property')
      .execute();
    expect(states).toEqual([{ property: 'code', refused_reason: 'not in the list' }]);
    options = { ...CODE, label: 'Takes EUR now' };
    await say('b', 600_000, 9);
    await sync();
    expect(record).toEqual({ capital: 600_000, code: 'EUR' });
  },
);
