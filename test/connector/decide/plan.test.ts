import { describe, expect, it } from 'vitest';
import type { Policy, Property } from '../../../providers/provider.ts';
import type { PropertyMemory, RefusedValue } from '../../../src/connector/decide/memory.ts';
import { fingerprint, type PlanInput, planRecord } from '../../../src/connector/decide/plan.ts';
import type { Planned } from '../../../src/connector/decide/planned.ts';
import { ENTITY } from '../../faults/company.ts';
import { propertyOf } from '../property-of.ts';

const NAME = propertyOf('string', { name: 'name' });

const NOTHING_REMEMBERED: PropertyMemory = {
  ...{ written: undefined, writtenAt: 0, restored: undefined, refused: undefined },
  ...{ trusted: false, kept: undefined, pending: [], stored: undefined, overwritten: undefined },
};

/** What is planned for the name of a record that holds `Old`, where the register says `New`. */
const planned = (property: Property, more: Partial<PlanInput> = {}): Planned | undefined =>
  planRecord({
    entity: ENTITY,
    mapping: [{ field: 'name', property: 'name', policy: 'always' }],
    values: {},
    persons: false,
    schema: new Map([['name', property]]),
    facts: new Map([['name', { entity: ENTITY, field: 'name', clock: '2026', seq: 1, value: { scalar: 'New' } }]]),
    wholes: [],
    known: () => [],
    remembered: new Map(),
    overrides: new Map(),
    trust: 'crm',
    crm: { name: 'Old' },
    ...more,
  })[0];

describe('a headline of another service', () => {
  const headline =
    'Nordlys: {Prøve Opdigtsen|CVR-3-4009999999} ny direktør i {Nordlys ApS|CVR-1-95012353}, {uden id} og {a|b|c}';
  const written = (persons: boolean) =>
    planned(NAME, {
      persons,
      mapping: [{ field: 'newsHeadline', property: 'name', policy: 'always' }],
      facts: new Map([
        ['newsHeadline', { entity: ENTITY, field: 'newsHeadline', clock: '2026', seq: 1, value: { scalar: headline } }],
      ]),
    });

  it('is written with its tokens resolved, and without names of persons', () => {
    expect(written(false)).toMatchObject({
      action: 'write',
      now: 'Nordlys: en person ny direktør i Nordlys ApS, {uden id} og {a|b|c}',
    });
  });

  it('names the person if the configuration allows it', () => {
    expect(written(true)?.now).toBe('Nordlys: Prøve Opdigtsen ny direktør i Nordlys ApS, {uden id} og {a|b|c}');
  });
});

describe('an unknown flag', () => {
  it('is not planned, so that it does not untick a checkbox', () => {
    const flag = propertyOf('boolean', { name: 'name' });
    const known = (scalar: boolean | null) =>
      planned(flag, {
        schema: new Map([['name', flag]]),
        crm: { name: true },
        mapping: [{ field: 'advertisingProtected', property: 'name', policy: 'always' }],
        facts: new Map([
          [
            'advertisingProtected',
            { entity: ENTITY, field: 'advertisingProtected', clock: '2026', seq: 1, value: { scalar } },
          ],
        ]),
      });
    expect(known(null)).toBeUndefined();
    expect(known(false)).toMatchObject({ action: 'write', now: false });
  });
});

describe('a checkbox that is not ticked', () => {
  const flag = propertyOf('boolean', { name: 'name' });
  const protectedNow = (remembered: PlanInput['remembered'] = new Map(), policy: Policy = 'tracked') =>
    planned(flag, {
      schema: new Map([['name', flag]]),
      crm: { name: false },
      remembered,
      mapping: [{ field: 'advertisingProtected', property: 'name', policy }],
      facts: new Map([
        [
          'advertisingProtected',
          { entity: ENTITY, field: 'advertisingProtected', clock: '2026', seq: 1, value: { scalar: true } },
        ],
      ]),
    });

  it.each(['tracked', 'if-blank'] as const)('is blank under %s if no change of it is known', (policy) => {
    expect(protectedNow(new Map(), policy)).toMatchObject({ action: 'write', rule: 'blank', old: false, now: true });
  });

  it("counts as a person's if we ticked it before, or if the difference waits for a person", () => {
    const ticked = { ...NOTHING_REMEMBERED, written: true, writtenAt: 5 };
    expect(protectedNow(new Map([['name', ticked]]))).toMatchObject({ action: 'keep', rule: 'edited' });
    const kept = { ...NOTHING_REMEMBERED, kept: { crm: 'false', now: 'true' } };
    expect(protectedNow(new Map([['name', kept]]))).toMatchObject({ action: 'keep', rule: 'edited' });
  });
});

describe('a number that the register had before', () => {
  const count = propertyOf('number', { name: 'name' });
  const counted = (crm: number, now: number, written?: number) =>
    planned(count, {
      schema: new Map([['name', count]]),
      crm: { name: crm },
      known: () => [crm, now],
      remembered: new Map([['name', { ...NOTHING_REMEMBERED, written }]]),
      mapping: [{ field: 'employees', property: 'name', policy: 'tracked' }],
      facts: new Map([
        ['employees', { entity: ENTITY, field: 'employees', clock: '2026', seq: 1, value: { scalar: now } }],
      ]),
    });

  it("may be a person's if it has few digits and we did not write it", () => {
    expect(counted(12, 14)).toMatchObject({ action: 'keep', rule: 'edited' });
    expect(counted(12, 14, 12)).toMatchObject({ action: 'write', rule: 'ours' });
    expect(counted(1_234, 1_300)).toMatchObject({ action: 'write', rule: 'register' });
  });
});

describe('a value that the CRM refused', () => {
  const refused = { value: '"New"', reason: 'not that one', aside: { schema: fingerprint(NAME), until: 900 } };
  const remembered = (one: RefusedValue): PlanInput['remembered'] =>
    new Map([
      [
        'name',
        {
          written: undefined,
          writtenAt: 0,
          stored: undefined,
          restored: undefined,
          overwritten: undefined,
          refused: one,
          trusted: false,
          kept: undefined,
          pending: [],
        },
      ],
    ]);

  it('is not sent again', () => {
    expect(planned(NAME)).toMatchObject({ action: 'write', now: 'New' });
    expect(planned(NAME, { remembered: remembered(refused) })).toMatchObject({
      action: 'set-aside',
      detail: 'not that one',
      retryAt: 900,
    });
  });

  it('is sent again at its time, and equals the same value from a person', () => {
    const { aside: _, ...due } = refused;
    expect(planned(NAME, { remembered: remembered(due) })).toMatchObject({ action: 'write' });
    expect(planned(NAME, { remembered: remembered(refused), crm: { name: 'New' } })).toMatchObject({ rule: 'same' });
  });

  it('is sent again once the schema of the property or the value changes', () => {
    const longer = propertyOf('string', { name: 'name', maxLength: 500 });
    expect(planned(longer, { remembered: remembered(refused) })).toMatchObject({ action: 'write' });
    expect(planned(NAME, { remembered: remembered({ ...refused, value: '"Other"' }) })).toMatchObject({
      action: 'write',
    });
  });
});

it('nothing is planned for a person who may not be named', () => {
  expect(planned(NAME, { entity: 'CVR-3-4999000001' })).toBeUndefined();
  expect(planned(NAME, { entity: 'CVR-3-4999000001', persons: true })).toMatchObject({ action: 'write' });
});

describe('a late write of ours over the edit of a person', () => {
  const from = { queue: 'sync:crm', key: '1', fence: 3, at: 100, detail: '{}' };
  const late = (writtenAt: number, kept: { crm: string; now: string } | undefined) =>
    planned(NAME, {
      mapping: [{ field: 'name', property: 'name', policy: 'tracked' }],
      crm: { name: 'Late' },
      remembered: new Map([
        [
          'name',
          {
            written: 'Newer',
            writtenAt,
            stored: undefined,
            restored: undefined,
            overwritten: undefined,
            refused: undefined,
            trusted: false,
            kept,
            pending: [{ field: 'name', old: 'First', now: 'Late', seq: 1, from }],
          },
        ],
      ]),
    })?.late;

  it.each([
    ['a newer value of ours', 200],
    ['no newer value of ours', 50],
  ])("records the person's value in history, with %s before it, so that undo can restore it", (_, writtenAt) => {
    expect(late(writtenAt, { crm: '"Person"', now: '"New"' })).toMatchObject({ old: 'Person', now: 'Late' });
  });

  it('records the replaced value if no person changed it', () => {
    expect(late(200, undefined)).toMatchObject({ old: 'Newer', overtook: true });
    expect(late(50, undefined)).toMatchObject({ old: 'First', overtook: false });
  });
});
