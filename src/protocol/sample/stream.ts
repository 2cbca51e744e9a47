/** Sample payloads for any event, and lists of sample companies. */
import { canonicalEntityId } from '../entity-id.ts';
import type { EventName } from '../events.ts';
import { type Payload, payloadOf } from '../payload.ts';
import { CHANGES } from './change.ts';
import { fullStatePayload, type SampleCompany, sampleCompany } from './company.ts';
import { randomFrom } from './random.ts';

export interface SampleOptions {
  readonly entityId?: string;
  readonly event?: EventName;
  readonly seed?: number;
  readonly placeType?: string | undefined;
  readonly now: number;
}

/** One sample payload; equal options give an equal payload. */
export const samplePayload = ({ entityId, event, seed = 1, placeType, now }: SampleOptions): Payload => {
  const company = sampleCompany(seed);
  const subject = {
    ...company,
    entityId: canonicalEntityId(entityId ?? '') ?? company.entityId,
    pUnits: company.pUnits.map((unit) => ({ ...unit, type: placeType ?? unit.type })),
  };
  const at = new Date(now).toISOString();
  if (event === undefined) return fullStatePayload(subject, at);
  return payloadOf(subject.entityId, at, CHANGES[event](subject, randomFrom(seed + 1), at).updates);
};

/**
 * Invented companies with different ids; the same seed gives the same ones, and a longer list begins like a shorter
 * one.
 */
export const sampleCompanies = (seed: number, count: number): readonly SampleCompany[] => {
  const companies = new Map<string, SampleCompany>();
  for (let next = seed * 1_000_003; companies.size < count; next++) {
    const company = sampleCompany(next);
    if (!companies.has(company.entityId)) companies.set(company.entityId, company);
  }
  return [...companies.values()];
};
