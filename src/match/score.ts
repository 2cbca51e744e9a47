/** The score of a candidate: the sum of what its signs are worth. Pure. */
import type { DescribedEntry, DescribedRecord } from './described.ts';
import { addressFindings } from './signs/address.ts';
import { isWithin } from './signs/distance.ts';
import { domainFindings } from './signs/domain.ts';
import { nameFindings } from './signs/name.ts';
import { phoneFindings } from './signs/phone.ts';
import { uniquenessFindings } from './signs/uniqueness.ts';
import { SIGNS, type SignFinding, type SignGroup } from './weights.ts';

/** How many companies share what the record says, as far as the index was looked through. */
export interface SharedBy {
  readonly name: number;
  readonly phone: number;
  readonly domain: number;
  readonly address: number;
  /** Whether the index lacks companies. */
  readonly isPartial?: boolean;
}

/** A company, with those of its entries that share a key with the record. */
export interface MatchCandidate {
  readonly company: string;
  readonly entries: readonly DescribedEntry[];
}

export interface ScoredCandidate {
  /** The CVR number. */
  readonly company: string;
  readonly name: string;
  readonly score: number;
  /** One for each group, the weightiest first. */
  readonly findings: readonly SignFinding[];
  /** How many groups have a strong sign. */
  readonly strong: number;
  readonly ended: string | null;
  readonly successor: string | null;
}

/** Scores a candidate. A sign that is made to agree never lowers it. */
export function scoreCandidate(
  record: DescribedRecord,
  { company, entries }: MatchCandidate,
  sharedBy: SharedBy,
): ScoredCandidate {
  const found = entries.flatMap((entry): readonly SignFinding[] => [
    ...nameFindings(record, entry),
    ...addressFindings(record.address, entry, sharedBy.address),
    ...phoneFindings(record.phone, entry, sharedBy.phone),
    ...domainFindings(record, entry, sharedBy.domain),
    ...(record.unitNumber === entry.entry.number ? [{ sign: 'unit-number-same' } as const] : []),
    ...(isMistyped(record.mistypedNumber, entry.entry.number) ? [{ sign: 'number-nearly' } as const] : []),
    ...(record.statedNumber === entry.entry.number ? [{ sign: 'number-in-name' } as const] : []),
  ]);
  const own = entries.find(({ entry }) => entry.number === company)?.entry;
  const ended = own?.ended ?? null;
  const findings = strongest([
    ...found,
    ...uniquenessFindings(found, sharedBy),
    ...(ended === null ? [] : [{ sign: 'ended', when: ended } as const]),
  ]);
  return {
    company,
    name: own?.name ?? entries[0]?.entry.name ?? '',
    score: findings.reduce((sum, { sign }) => sum + SIGNS[sign].points, 0),
    findings,
    strong: findings.filter(({ sign }) => SIGNS[sign].isStrong).length,
    ended,
    successor: own?.successor ?? null,
  };
}

/** Whether one slip makes the number of the other. */
const isMistyped = (typed: string | null, number: string): boolean => typed !== null && isWithin(typed, number, 1);

/** The strongest finding of each group, the weightiest first. */
function strongest(found: readonly SignFinding[]): readonly SignFinding[] {
  const best = new Map<SignGroup, SignFinding>();
  for (const finding of found) {
    const { group, points } = SIGNS[finding.sign];
    const before = best.get(group);
    if (before === undefined || SIGNS[before.sign].points < points) best.set(group, finding);
  }
  return [...best.values()].sort((a, b) => SIGNS[b.sign].points - SIGNS[a.sign].points);
}
