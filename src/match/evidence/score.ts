/** The evidence for a candidate, and its weight. Pure. */
import type { DescribedEntry, DescribedRecord } from '../describe/described.ts';
import { addressFindings } from './address.ts';
import { isWithin } from './distance.ts';
import { domainFindings } from './domain.ts';
import { nameFindings } from './name.ts';
import { phoneFindings } from './phone.ts';
import { uniquenessFindings } from './uniqueness.ts';
import { EVIDENCE, type Evidence, type EvidenceFinding, type EvidenceGroup } from './weights.ts';

/** The number of companies that share each value of the record, as far as the index was searched. */
export interface SharedBy {
  readonly name: number;
  readonly phone: number;
  readonly domain: number;
  readonly address: number;
  /** The index lacks companies. */
  readonly isPartial?: boolean;
}

/** A company, with its entries that share a key with the record. */
export interface MatchCandidate {
  readonly company: string;
  readonly entries: readonly DescribedEntry[];
}

export interface WeighedCandidate {
  /** The CVR number. */
  readonly company: string;
  readonly name: string;
  /** Only orders the candidates of one record. */
  readonly weight: number;
  /** One for each group, the heaviest first. */
  readonly findings: readonly EvidenceFinding[];
  /** The number of groups with strong evidence. */
  readonly strong: number;
  readonly ended: string | null;
  readonly successor: string | null;
}

/** Improving one agreement never lowers the weight. */
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
    ...(record.unitNumber === entry.entry.number ? [{ evidence: 'unit-number-same' } as const] : []),
    ...(isMistyped(record.mistypedNumber, entry.entry.number) ? [{ evidence: 'number-nearly' } as const] : []),
    ...(record.statedNumber === entry.entry.number ? [{ evidence: 'number-in-name' } as const] : []),
  ]);
  const own = entries.find(({ entry }) => entry.number === company)?.entry;
  const ended = own?.ended ?? null;
  const findings = strongest(
    [
      ...found,
      ...uniquenessFindings(found, sharedBy),
      ...(ended === null ? [] : [{ evidence: 'ended', when: ended } as const]),
    ],
    placeElsewhere(record, entries),
  );
  return {
    company,
    name: own?.name ?? entries[0]?.entry.name ?? '',
    weight: findings.reduce((sum, { evidence }) => sum + EVIDENCE[evidence].points, 0),
    findings,
    strong: findings.filter(({ evidence }) => EVIDENCE[evidence].isStrong).length,
    ended,
    successor: own?.successor ?? null,
  };
}

/** Whether one typing error separates the numbers. */
const isMistyped = (typed: string | null, number: string): boolean => typed !== null && isWithin(typed, number, 1);

/** Entries of a company with production units in other places. */
const CHAIN = 3;

/** Stronger evidence than another town. */
function placeElsewhere({ isAbroad }: DescribedRecord, entries: readonly DescribedEntry[]): Evidence | undefined {
  if (isAbroad) return 'address-abroad';
  const codes = entries.flatMap(({ entry }) => entry.address?.postalCode ?? []);
  return entries.length >= CHAIN && new Set(codes).size > 1 ? 'chain-elsewhere' : undefined;
}

/** The strongest finding of each group, the heaviest first; `elsewhere` replaces an address in another town. */
function strongest(found: readonly EvidenceFinding[], elsewhere: Evidence | undefined): readonly EvidenceFinding[] {
  const best = new Map<EvidenceGroup, EvidenceFinding>();
  for (const finding of found) {
    const { group, points } = EVIDENCE[finding.evidence];
    const before = best.get(group);
    if (before === undefined || EVIDENCE[before.evidence].points < points) best.set(group, finding);
  }
  if (elsewhere !== undefined && (best.get('address')?.evidence ?? 'address-elsewhere') === 'address-elsewhere')
    if (elsewhere === 'address-abroad' || best.has('address')) best.set('address', { evidence: elsewhere });
  return [...best.values()].sort((a, b) => EVIDENCE[b.evidence].points - EVIDENCE[a.evidence].points);
}
