/**
 * Hundreds of thousands of characters of one kind, as a webhook or a website field in the CRM may hold them: whatever reads them ends.
 * In quadratic time each test would take minutes, so that nothing here has to be measured.
 */
import { describe, expect, test } from 'vitest';
import type { FieldName } from '../providers/fields.ts';
import type { Property } from '../providers/provider.ts';
import { render } from '../src/connector/decide/render.ts';
import { sameFor } from '../src/connector/decide/same.ts';
import { readCvrNumber } from '../src/protocol/cvr-number.ts';
import { shareText } from '../src/protocol/describe/danish.ts';
import { lineText } from '../src/protocol/describe/describe.ts';
import { trimEndOf, withoutPercent } from '../src/protocol/text/trim.ts';
import { withoutPersonalNumbers } from '../src/service/feeds/personal-numbers.ts';
import { plainHtml } from '../src/service/feeds/plain-html.ts';
import { cleanHtml } from '../src/service/news/wording/clean-html.ts';
import { propertyOf } from './connector/property-of.ts';

const LONG = 200_000;
/** What begins like something and never becomes it, with an end that lets no expression match. */
const TEXTS = ['\t', '/', '0', '%\t', '<', '<a "', '<script ', '</script ', '<!--', '&', ',\t', '1.000', 'x.'].map(
  (part) => `x${part.repeat(LONG / part.length)}x`,
);
const FIELDS: readonly FieldName[] = ['name', 'website', 'phone', 'email', 'capital'];
const TYPES: readonly Property['type'][] = ['string', 'multiline', 'number', 'enumeration', 'datetime', 'url', 'phone'];

describe('text from outside is read in linear time, however long it is', () => {
  test.each(TYPES)('compared with what a CRM holds, in a property of type %s', (type) => {
    const same = FIELDS.map((field) => sameFor(field, propertyOf(type)));
    for (const text of TEXTS) for (const equal of same) expect(equal(text, 'y')).toBe(false);
  });

  test('rendered for a CRM, as a value and as the share of a member', () => {
    for (const text of TEXTS) {
      expect(render('website', text, propertyOf()).ok).toBe(true);
      expect(render('owners', [{ id: 'CVR-1-10000009', name: text, share: text }], propertyOf()).ok).toBe(true);
      expect(readCvrNumber(text).kind).toBe('invalid');
    }
  });

  test('written for people: shares, addresses, lines of a note, articles', () => {
    for (const text of TEXTS) {
      expect(shareText(text)).toContain('x');
      expect(lineText({ label: 'Formål', before: null, after: text })).toContain('x');
      expect(cleanHtml(text)).toContain('x');
      expect(plainHtml(text)).toContain('x');
      expect(withoutPersonalNumbers(`ø${text}`)).toContain('x');
    }
  });
});

describe('what replaces the expressions does what they did', () => {
  test('characters at the end go, and a percent sign with the blanks around it', () => {
    expect(trimEndOf('https://a.example///', '/')).toBe('https://a.example');
    expect(trimEndOf('///', '/')).toBe('');
    expect(['50 %', '50% ', '50', '5 % x', '%'].map(withoutPercent)).toEqual(['50', '50', '50', '5 % x', '']);
  });
});
