import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalEntityId, companyEntityId, parseEntityId } from '../../src/protocol/entity-id.ts';

describe('entity ids', () => {
  it('takes companies, production units and persons apart', () => {
    expect(parseEntityId('CVR-1-99000016')).toEqual({
      source: 'CVR',
      kind: 'company',
      number: '99000016',
      canonical: 'CVR-1-99000016',
    });
    expect(parseEntityId('CVR-2-1999000001')?.kind).toBe('productionUnit');
    expect(parseEntityId('CVR-3-4999000001')?.kind).toBe('person');
  });

  it('reads any case and blanks around it as one canonical form', () => {
    fc.assert(
      fc.property(fc.mixedCase(fc.constant('cvr-1-99000016')), fc.stringMatching(/^[ \t\u00a0]*$/), (text, blanks) => {
        expect(canonicalEntityId(blanks + text + blanks)).toBe('CVR-1-99000016');
      }),
    );
  });

  it('is already canonical once it was made canonical', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z]{2,6}-[0-9]{1,3}-[A-Za-z0-9-]{1,36}$/), (text) => {
        const canonical = canonicalEntityId(text);
        if (canonical !== undefined) expect(canonicalEntityId(canonical)).toBe(canonical);
      }),
    );
  });

  it('accepts other data sources and their own kinds of id', () => {
    const id = parseEntityId('crm-1-6F9619FF-8B86-D011-B42D-00C04FC964FF');
    expect(id?.kind).toBe('other');
    expect(id?.canonical).toBe('CRM-1-6f9619ff-8b86-d011-b42d-00c04fc964ff');
    expect(parseEntityId('CVR-4-1')?.kind).toBe('other');
  });

  it.each([
    '',
    'CVR',
    '99000016',
    'CVR-1-',
    'CVR-1-ABC',
    'CVR-1-99 00 00 16',
    '-1-5',
    'CVR-1-5|x',
    `CVR-1-${'9'.repeat(200)}`,
    'CVR-1-５',
  ])('refuses %j', (text) => {
    expect(parseEntityId(text)).toBeUndefined();
  });

  it('names the company of a CVR number', () => {
    expect(companyEntityId('99000016')).toBe('CVR-1-99000016');
  });
});
