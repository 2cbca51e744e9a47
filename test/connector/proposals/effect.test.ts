/** What the mapping's page says before is what the connector writes then: in one record, and in the sum over all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import type { Config } from '../../../src/config/load.ts';
import { openedCrm } from '../../../src/connector/crm/crm.ts';
import { readCurrents } from '../../../src/connector/explain/current.ts';
import { countEffect, type MappingEffect } from '../../../src/connector/proposals/effect.ts';
import { acceptAll } from '../../../src/connector/proposals/proposals.ts';
import { rulesOf } from '../../../src/connector/rules/rules.ts';
import { inventedCompany } from '../../../src/setup/mapping-draft.ts';
import { startEdited } from '../../dashboard/settings/daemon.ts';

const ACTOR = { kind: 'user', name: 'Ida' } as const;
const POLICIES = ['tracked', 'always', 'if-blank', 'never'] as const;
const TEXTS = ['Kunde', '12345678', 'Nørregade 1', 'x@example.com'] as const;

/** Rules of fields that each go to their property of the preset, or to another text. */
const PROPERTIES = {
  hubspot: {
    name: 'name',
    street: 'address',
    city: 'city',
    phone: 'phone',
    website: 'website',
    purpose: 'description',
  },
  salesforce: { name: 'Name', street: 'BillingStreet', city: 'BillingCity', phone: 'Phone', purpose: 'Description' },
} as const;

const COMPOSED = { hubspot: 'description', salesforce: 'Description' } as const;

function rulesFor(name: 'hubspot' | 'salesforce') {
  const rule = (property: string) =>
    fc.oneof(
      { weight: 1, arbitrary: fc.constant(false as const) },
      {
        weight: 4,
        arbitrary: fc.record(
          {
            property: fc.constant(property),
            policy: fc.constantFrom(...POLICIES),
            case: fc.constantFrom('upper', 'lower'),
          },
          { requiredKeys: ['property', 'policy'] },
        ),
      },
    );
  const fields = fc.record(
    Object.fromEntries(Object.entries(PROPERTIES[name]).map(([field, property]) => [field, rule(property)])),
    { requiredKeys: [] },
  );
  const composed = fc.constantFrom('{name} ({city})', 'Kunde i CVR', '{street}, {postalCode} {city}');
  return fc
    .record({ fields, composed: fc.option(composed, { nil: undefined }) })
    .map(({ fields: some, composed: text }) =>
      text === undefined
        ? some
        : { ...some, purpose: false as const, composed: { property: COMPOSED[name], policy: 'always' as const, text } },
    );
}

const changesIn = (effect: MappingEffect | undefined): number =>
  effect === undefined ? -1 : effect.filled + effect.updated + effect.overwritten;

describe.each(['hubspot', 'salesforce'] as const)('in %s', (name) => {
  it('the written record and the counts equal those of the page', async () => {
    const other = name === 'hubspot' ? 'salesforce' : 'hubspot';
    const daemon = await startEdited({ connections: { [other]: false } });
    const crm = daemon[name];
    const texts = Object.values(PROPERTIES[name]);
    const ids = await Promise.all(
      [0, 1, 2].map((at) =>
        daemon.addLinked(
          name,
          at + 1,
          Object.fromEntries(texts.map((each, nr) => [each, TEXTS[(nr + at) % 6] ?? null])),
        ),
      ),
    );
    await daemon.settled();
    const deps = { store: daemon.app.store, now: Date.now };
    const held = () => new Map(ids.map((id) => [id, { ...crm.get(id) }]));
    const edits = fc.array(fc.tuple(fc.nat(2), fc.constantFrom(...texts), fc.constantFrom(...TEXTS, null)), {
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(rulesFor(name), edits, async (fields, typed) => {
        for (const [at, property, value] of typed)
          if (!(value === null && /^name$/iu.test(property))) crm.edit(ids[at] ?? '', { [property]: value });
        const config = await daemon.rewritten((content) => {
          Object.assign(content.connector.providers[name] ?? {}, { fields });
        });
        const rules = rulesOf(providerIn(config, name));
        const opened = await openedCrm(daemon.app.connector?.crms ?? [])(name);
        const said = await readCurrents(
          deps,
          { ...opened, ...rules },
          ids.map((id) => ({ id })),
          10_000,
        );
        let sum: MappingEffect | undefined;
        const request = { crm: opened, rules, invented: inventedCompany(Date.now()) };
        for await (const effect of countEffect(deps, request, AbortSignal.timeout(10_000))) sum = effect;
        const before = held();
        await daemon.app.reload(config);
        await daemon.app.store.write((tx) => acceptAll(tx, config.connector?.providers ?? [], ACTOR, Date.now()));
        await daemon.settled();
        const after = held();
        const wanted = ids.map((id, at) => {
          const current = said[at];
          const planned = current?.kind === 'compared' ? current.planned : [];
          const written = planned.filter(({ action }) => action === 'write');
          return { ...before.get(id), ...Object.fromEntries(written.map(({ property, now }) => [property, now])) };
        });
        const plain = (record: Readonly<Record<string, PropertyValue | undefined>> | undefined) =>
          Object.fromEntries(texts.map((each) => [each, String(record?.[each] ?? '')]));
        expect(ids.map((id) => plain(after.get(id)))).toEqual(wanted.map(plain));
        const changed = ids.flatMap((id) => differing(before.get(id), after.get(id)));
        expect([sum?.read, changesIn(sum)]).toEqual([ids.length, changed.length]);
      }),
      { numRuns: 8, seed: 38, endOnFailure: true },
    );
  });
});

/** The properties in which two states of a record differ, but for what the CRM notes itself. */
function differing(before: object | undefined, after: object | undefined): readonly string[] {
  const [was, is] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))];
  return [...is.keys()].filter(
    (key) => !/modified|modstamp/iu.test(key) && String(was.get(key) ?? '') !== String(is.get(key) ?? ''),
  );
}

function providerIn(config: Config, name: string) {
  const found = config.connector?.providers.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is not configured`);
  return found;
}
