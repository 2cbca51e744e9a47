import { describe, expect, it } from 'vitest';
import type { Connection, Defined, Property, PropertyDefinition } from '../../../providers/provider.ts';
import { guardAccount } from '../../../src/connector/crm/guard.ts';
import { readMade } from '../../../src/connector/crm/made-properties.ts';
import {
  makeProperties,
  missingProperties,
  offerProperties,
  type ToDefine,
} from '../../../src/connector/crm/make-properties.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const depsOf = async (engine: (typeof ENGINES)[number] = 'sqlite') => ({ store: await newStore(engine), now: () => 1 });
const property = (name: string): Property => ({ name, label: name, type: 'string', writable: true });
const config = (more: Partial<ToDefine> = {}): ToDefine => ({
  name: 'crm',
  provider: {},
  mapping: [],
  values: {},
  match: undefined,
  hold: undefined,
  ...more,
});
const unused = async (): Promise<never> => {
  throw new Error('not asked for');
};
const connection = (define?: Connection['defineProperties'], id = '1'): Connection => ({
  check: async () => ({ id, name: id, notes: [] }),
  properties: unused,
  read: unused,
  update: unused,
  scan: unused,
  ...(define !== undefined && { defineProperties: define }),
});
const signal = new AbortController().signal;

describe('the properties an account lacks', () => {
  it('are those of the mapping, the match and the hold, each once', () => {
    const mapping = [
      { field: 'name', property: 'title', policy: 'tracked' },
      { field: 'owners', property: 'owners', policy: 'always' },
      { field: 'employees', property: 'staff', policy: 'tracked' },
      { field: 'startDate', property: 'born', policy: 'tracked' },
      { field: 'status', property: 'staff', policy: 'tracked' },
    ] as const;
    const wanted = missingProperties(config({ mapping, match: 'cvr', hold: 'leave' }), [property('title')]);
    expect(wanted.map(({ name, type, unique }) => [name, type, unique])).toEqual([
      ['cvr', 'string', true],
      ['leave', 'boolean', undefined],
      ['owners', 'multiline', undefined],
      ['staff', 'number', undefined],
      ['born', 'date', undefined],
    ]);
    expect(wanted[2]?.label).toBe('CVR legal owners with their shares');
  });

  it('exclude those that are never written, or are replaced by another one', () => {
    const mapping = [
      { field: 'name', property: 'a', policy: 'never' },
      { field: 'country', property: 'b', policy: 'tracked', unless: 'code' },
    ] as const;
    expect(missingProperties(config({ mapping }), [property('code')])).toEqual([]);
  });

  it('exclude standard properties of the CRM that a preset uses if they exist', () => {
    const definition: PropertyDefinition = { name: 'cvr_country', label: 'Country', type: 'string' };
    const mapping = [
      { field: 'countryCode', property: 'BillingCountryCode', policy: 'tracked', optional: true },
      { field: 'country', property: 'cvr_country', policy: 'always', optional: true },
    ] as const;
    const asked = config({ mapping, provider: { definitions: [definition] } });
    expect(missingProperties(asked, [])).toEqual([definition]);
  });

  it('are created by the definitions of the provider', () => {
    const definition: PropertyDefinition = { name: 'cvr', label: 'The number', type: 'string', unique: true };
    const asked = config({ match: 'cvr', provider: { definitions: [definition] } });
    expect(missingProperties(asked, [])).toEqual([definition]);
  });
});

describe('making properties', () => {
  const missing = [
    { name: 'a', label: 'A', type: 'string' },
    { name: 'b', label: 'B', type: 'number' },
    { name: 'c', label: 'C', type: 'date' },
  ] as const;

  it('is offered if the CRM supports it and a property is missing', () => {
    const able = connection(async () => []);
    expect(offerProperties('crm', able, missing)).toEqual([
      expect.objectContaining({
        found: '3 can be created: a, b, c',
        advice: expect.stringContaining('--create-properties'),
      }),
    ]);
    expect([...offerProperties('crm', able, []), ...offerProperties('crm', connection(), missing)]).toEqual([]);
  });

  it('reports the result of each, with the reason of a refusal', async () => {
    const made = connection(async () => [
      { name: 'a', kind: 'created' },
      { name: 'b', kind: 'exists' },
      { name: 'c', kind: 'refused', reason: 'the token lacks crm.schemas.companies.write' },
    ]);
    const findings = await makeProperties(await depsOf(), { name: 'crm', connection: made }, missing, signal);
    expect(findings.map(({ level, subject }) => [level, subject])).toEqual([
      ['ok', 'crm a'],
      ['warn', 'crm b'],
      ['fail', 'crm c'],
    ]);
    expect(findings[2]?.found).toContain('crm.schemas.companies.write');
  });

  it('names the properties that a person must create if the provider cannot', async () => {
    const findings = await makeProperties(await depsOf(), { name: 'crm', connection: connection() }, missing, signal);
    expect(findings).toEqual([expect.objectContaining({ level: 'warn', advice: 'create them in the CRM: a, b, c' })]);
    expect(await makeProperties(await depsOf(), { name: 'crm', connection: connection() }, [], signal)).toEqual([]);
  });

  describe.each(ENGINES)('are remembered on %s, to be removed some day:', (engine) => {
    const madeBy = async (...answers: readonly (readonly Defined[] | 'lost')[]) => {
      const deps = await depsOf(engine);
      for (const answer of answers) {
        const made = connection(async () => {
          if (answer === 'lost') throw new Error('no answer');
          return answer;
        });
        await makeProperties(deps, { name: 'crm', connection: made }, missing, signal).catch(() => undefined);
      }
      return Object.fromEntries(await readMade(deps.store.db, { provider: 'crm', account: '1' }));
    };
    const answered = (kind: Defined['kind']): readonly Defined[] => missing.map(({ name }) => ({ name, kind }));

    it('only those that the CRM reports as created', async () => {
      const answers: readonly Defined[] = [
        { name: 'a', kind: 'created' },
        { name: 'b', kind: 'exists' },
        { name: 'c', kind: 'created', hidden: true },
      ];
      expect(await madeBy(answers)).toEqual({ a: 'made' });
      expect(await madeBy(answers, answered('exists'))).toEqual({ a: 'made' });
      expect(await madeBy(answered('refused'))).toEqual({});
    });

    it('only in their account; in an unexpected account, none is created', async () => {
      const deps = await depsOf(engine);
      const inAccount = (id: string) =>
        makeProperties(
          deps,
          { name: 'crm', connection: connection(async () => answered('created'), id) },
          missing,
          signal,
        );
      const madeIn = async (account: string) => (await readMade(deps.store.db, { provider: 'crm', account })).size;
      await inAccount('sandbox 1');
      expect([await madeIn('sandbox 1'), await madeIn('sandbox'), await madeIn('own')]).toEqual([3, 0, 0]);
      await guardAccount(deps, { name: 'crm', connection: connection(undefined, 'own') }, signal);
      expect(await inAccount('other')).toEqual([
        expect.objectContaining({ level: 'fail', found: expect.stringMatching(/account other.*account own$/u) }),
      ]);
      expect([await madeIn('other'), await madeIn('own')]).toEqual([0, 0]);
      await inAccount('own');
      expect(await madeIn('own')).toBe(3);
    });

    it('those that exist after a lost answer', async () => {
      expect(await madeBy('lost')).toEqual({ a: 'tried', b: 'tried', c: 'tried' });
      expect(await madeBy('lost', answered('exists'))).toEqual({ a: 'made', b: 'made', c: 'made' });
      expect(await madeBy('lost', answered('refused'), answered('exists'))).toEqual({});
    });
  });
});
