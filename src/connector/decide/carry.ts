/**
 * Values that are sent along unchanged, beside those of their group that are written. A person who edits one of them
 * between our read and our write would else see our street beside their town, an address that does not exist: so the
 * write replaces their town, too, which the CRM then tells, and the group is restored as they had it. Pure.
 */
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import { isOfAmount } from './currency.ts';
import { isAddressPart } from './group.ts';
import type { PropertyMemory } from './memory.ts';
import type { ArePartners } from './partners.ts';
import { type Planned, RETURNED } from './planned.ts';
import { sameFor } from './same.ts';

interface CarryInput {
  /** Whether the CRM tells what a write replaced: where it does not, the edit would be lost. */
  readonly tellsEdits?: boolean | undefined;
  readonly remembered: ReadonlyMap<string, PropertyMemory>;
  readonly schema: ReadonlyMap<string, Property>;
}

/** Adds what is carried. If the CRM refuses a carried value, the others are written without it. */
export function withCarried(
  planned: readonly Planned[],
  input: CarryInput,
  arePartners: () => ArePartners,
): readonly Planned[] {
  if (input.tellsEdits !== true) return planned;
  const writes = planned.filter(writesPart);
  if (writes.length === 0) return planned;
  const areOne = arePartners();
  return planned.map((each) => {
    const carried = carriedValue(each, input);
    if (carried === undefined) return each;
    const along = writes.filter((write) => areOne(write, each));
    if (along.length === 0) return each;
    const seq = Math.max(...along.map((write) => write.seq));
    return { ...each, carried, seq, needs: along.map(({ property }) => property) };
  });
}

/** A restored value is a person's: beside it stands what they saw. */
const writesPart = ({ action, rule, field }: Planned): boolean =>
  action === 'write' && rule !== RETURNED && (isAddressPart(field) || isOfAmount(field));

/** What the CRM holds, or what it made that of. */
function carriedValue(planned: Planned, { remembered, schema }: CarryInput): PropertyValue | undefined {
  const { field, property: name, rule, old, now, late } = planned;
  if (rule === 'same') return old;
  const property = schema.get(name);
  const last = late?.now ?? remembered.get(name)?.written;
  const isOfNow = property !== undefined && last !== undefined && sameFor(field, property)(last, now);
  return rule === 'stored' && isOfNow ? last : undefined;
}
