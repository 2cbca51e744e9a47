/** Sample payloads: one for any event; and the companies that many of them are about. */
import { canonicalEntityId } from '../entity-id.ts';
import type { EventName } from '../events.ts';
import { type Payload, payloadOf } from '../payload.ts';
import { CHANGES } from './change.ts';
import { fullStatePayload, type SampleCompany, sampleCompany } from './company.ts';
import { randomFrom } from './random.ts';

/** What a sample payload should be about. */
export interface SampleOptions {
  /** The company it is about; an invented one where absent. */
  readonly entityId?: string;
  /** The event it tells of; all that the register says where absent. */
  readonly event?: EventName;
  readonly seed?: number;
  /** Type name of production units; `Place` where absent. */
  readonly placeType?: string;
  /** The payload's time in ms since 1970. */
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

/** Invented companies; the same seed gives the same ones, and more begin like fewer. All ids differ. */
export const sampleCompanies = (seed: number, count: number): readonly SampleCompany[] => {
  const companies = new Map<string, SampleCompany>();
  for (let next = seed * 1_000_003; companies.size < count; next++) {
    const company = sampleCompany(next);
    if (!companies.has(company.entityId)) companies.set(company.entityId, company);
  }
  return [...companies.values()];
};
