import type { MatchedRecord } from '../../connector/match/results.ts';
import type { Confidence } from '../../match/decide/confidence.ts';
import { reasonText } from '../../match/evidence/weights.ts';
import { oneLine } from '../cli/table.ts';

const MEANING: Readonly<Record<Confidence, string>> = {
  certain: 'two strong signs agree, and no other company comes near',
  likely: 'one company is clearly the best',
  ambiguous: 'several companies come near, or the best has too little',
  dissolved: 'the best company has ended',
  foreign: 'not Danish',
  person: 'a natural person',
  none: 'no company is near',
};

export const confidenceTable = (counts: Readonly<Partial<Record<Confidence, number>>>): readonly string[] => {
  const lines = Object.entries(MEANING).flatMap(([confidence, meaning]) => {
    const [, count = 0] = Object.entries(counts).find(([name]) => name === confidence) ?? [];
    return count === 0 ? [] : `${String(count).padStart(8)}  ${confidence.padEnd(10)} ${meaning}`;
  });
  return lines.length === 0 ? ['       0'] : lines;
};

export function resultText({ recordId, record, confidence, candidates }: MatchedRecord, language: 'en' | 'da'): string {
  const [best, ...others] = candidates;
  const named = `  ${recordId} ${oneLine(record.name ?? '')}: ${confidence}`;
  if (best === undefined) return named;
  const reasons = best.findings.map((finding) => reasonText(finding, language)).join('; ');
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${named}\n    ${best.company} ${oneLine(best.name)}, ${best.score}: ${oneLine(reasons)}${more}`;
}
