import { describe, expect, it } from 'vitest';
import { ruleText } from '../../../src/connector/match/rule.ts';
import type { Confidence } from '../../../src/match/decide/confidence.ts';
import type { Evidence } from '../../../src/match/evidence/weights.ts';

const candidate = (score: number, signs: readonly Evidence[], ended: string | null = null) => ({
  company: '10000001',
  name: 'Nordlys ApS',
  score,
  weight: score,
  findings: signs.map((evidence) => ({ evidence })),
  strong: 0,
  ended,
  successor: null,
});
const text = (
  confidence: Confidence,
  candidates: readonly ReturnType<typeof candidate>[],
  language: 'en' | 'da' = 'en',
) => ruleText({ confidence, candidates }, language);

describe('the rule of a confidence', () => {
  it('names agreeing values, and unique ones', () => {
    expect(text('certain', [candidate(83, ['name-same', 'address-same', 'name-unique'])])).toBe(
      'the name and the address agree',
    );
    expect(text('likely', [candidate(53, ['name-same', 'name-unique', 'phone-other'])])).toBe(
      'only the name speaks for it',
    );
    expect(text('likely', [candidate(61, ['name-same', 'postal-code-same'])], 'da')).toBe(
      'kun navnet er et stærkt tegn',
    );
    expect(text('ambiguous', [candidate(35, ['phone-same', 'address-elsewhere'])])).toBe(
      'only the phone speaks for it',
    );
  });

  it('counts the companies with the same or a similar name', () => {
    const named = candidate(45, ['name-same', 'city-same']);
    expect(text('ambiguous', [named, named])).toBe('2 companies bear this name');
    expect(text('ambiguous', [named, named], 'da')).toBe('2 virksomheder bærer dette navn');
    const former = candidate(90, ['former-name-same', 'address-same', 'phone-same']);
    expect(text('ambiguous', [named, former])).toBe('a company bears this name, and another one has more signs');
    const part = candidate(46, ['name-part', 'address-same']);
    expect(text('ambiguous', [part, part, part])).toBe('3 companies come near');
  });

  it('says why it proposes no company', () => {
    expect(text('none', [])).toBe('no company is near');
    expect(text('foreign', [])).toBe('the record is not Danish');
    expect(text('person', [])).toBe('the record is a natural person');
    expect(text('dissolved', [candidate(80, ['name-same', 'address-same'], '2021-05-01')])).toBe(
      'the best company has ended',
    );
  });
});
