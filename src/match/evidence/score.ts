/** The signs of a candidate, and the weight by which candidates are ordered. Pure. */
import type { DescribedEntry, DescribedRecord } from '../describe/described.ts';
import { addressFindings } from './address.ts';
import { isWithin } from './distance.ts';
import { domainFindings } from './domain.ts';
import { nameFindings } from './name.ts';
import { phoneFindings } from './phone.ts';
import { uniquenessFindings } from './uniqueness.ts';
import { EVIDENCE, type Evidence, type EvidenceFinding, type EvidenceGroup } from './weights.ts';

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

export interface WeighedCandidate {
  /** The CVR number. */
  readonly company: string;
  readonly name: string;
  /** Orders the candidates of one record; it says nothing beyond that. */
  readonly weight: number;
  /** One for each group, the weightiest first. */
  readonly findings: readonly EvidenceFinding[];
  /** How many groups have a strong sign. */
  readonly strong: number;
  readonly ended: string | null;
  readonly successor: string | null;
}

/** Weighs a candidate. A sign that is made to agree never lowers its weight. */
export function weighCandidate(
  record: DescribedRecord,
  { company, entries }: MatchCandidate,
  sharedBy: SharedBy,
): WeighedCandidate {
  const found = entries.flatMap((entry): readonly EvidenceFinding[] => [
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
  const findings = strongest(
    [
      ...found,
      ...uniquenessFindings(found, sharedBy),
      ...(ended === null ? [] : [{ sign: 'ended', when: ended } as const]),
    ],
    placeElsewhere(record, entries),
  );
  return {
    company,
    name: own?.name ?? entries[0]?.entry.name ?? '',
    weight: findings.reduce((sum, { sign }) => sum + EVIDENCE[sign].points, 0),
    findings,
    strong: findings.filter(({ sign }) => EVIDENCE[sign].isStrong).length,
    ended,
    successor: own?.successor ?? null,
  };
}

/** Whether one slip makes the number of the other. */
const isMistyped = (typed: string | null, number: string): boolean => typed !== null && isWithin(typed, number, 1);

/** The entries of a company that has production units in other places. */
const CHAIN = 3;

/** What says more than that the record is in another town. */
function placeElsewhere({ isAbroad }: DescribedRecord, entries: readonly DescribedEntry[]): Evidence | undefined {
  if (isAbroad) return 'address-abroad';
  const codes = entries.flatMap(({ entry }) => entry.address?.postalCode ?? []);
  return entries.length >= CHAIN && new Set(codes).size > 1 ? 'chain-elsewhere' : undefined;
}

/** The strongest finding of each group, the weightiest first; `elsewhere` stands for an address in another town. */
function strongest(found: readonly EvidenceFinding[], elsewhere: Evidence | undefined): readonly EvidenceFinding[] {
  const best = new Map<EvidenceGroup, EvidenceFinding>();
  for (const finding of found) {
    const { group, points } = EVIDENCE[finding.sign];
    const before = best.get(group);
    if (before === undefined || EVIDENCE[before.sign].points < points) best.set(group, finding);
  }
  if (elsewhere !== undefined && (best.get('address')?.sign ?? 'address-elsewhere') === 'address-elsewhere')
    if (elsewhere === 'address-abroad' || best.has('address')) best.set('address', { sign: elsewhere });
  return [...best.values()].sort((a, b) => EVIDENCE[b.sign].points - EVIDENCE[a.sign].points);
}
