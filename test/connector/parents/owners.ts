/** Companies that own each other, as the service tells of them, over a CRM that is scripted. */
import { payloadOf, type Updates } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { type Fixture, type FixtureOptions, newFixture } from '../derived-fixture.ts';

export const id = (number: number): string => `CVR-1-9500000${number}`;
export const [CHILD, OWNER, OTHER, THIRD] = [id(1), id(2), id(3), id(4)];

export const setUp = (options: Partial<FixtureOptions> = {}): Promise<Fixture & { readonly url: string }> =>
  newFixture({ engine: 'sqlite', parent: true, ...options });

let clock = 0;

const firm = (entityId: string, ownership: string) => ({
  entityId,
  name: `Firma ${entityId}`,
  type: 'Company',
  ownership,
});

/** Links records, each with its company. */
export async function linkAll(fixture: Fixture, records: Readonly<Record<string, string>>): Promise<void> {
  for (const [record, entity] of Object.entries(records)) await fixture.link(record, entity);
}

/** States the whole company, with these owners. */
export async function owned(
  fixture: Fixture,
  entity: string,
  ...owners: readonly (readonly [string, string])[]
): Promise<void> {
  clock += 1_000;
  const { ownership: _, ...updates } = samplePayload({ now: 0 }).updates;
  const added = owners.map(([owner, share]) => firm(owner, share));
  const whole: Updates = { ...updates, ownership: { added, removed: [], changed: [] } };
  await fixture.report(payloadOf(entity, new Date(Date.UTC(2026, 1, 1) + clock).toISOString(), whole));
}

export async function sold(fixture: Fixture, entity: string, from: string, to?: string): Promise<void> {
  clock += 1_000;
  const ownership = {
    added: to === undefined ? [] : [firm(to, '100')],
    removed: [firm(from, '100')],
    changed: [],
  };
  await fixture.report(payloadOf(entity, new Date(Date.UTC(2026, 1, 1) + clock).toISOString(), { ownership }));
}

export const writes = ({ calls }: Fixture): readonly string[] => calls.filter((call) => call.startsWith('parent '));
