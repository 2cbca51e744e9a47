import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_NAMES, EVENTS, type EventName } from '../../../../src/protocol/events.ts';
import { type NewsType, resolveTokens } from '../../../../src/protocol/news.ts';
import { CHANGES } from '../../../../src/protocol/sample/change.ts';
import { sampleCompany } from '../../../../src/protocol/sample/company.ts';
import { randomFrom } from '../../../../src/protocol/sample/random.ts';
import { newsOf } from '../../../../src/service/news/wording/make.ts';
import { arbitraryPayload } from '../../../protocol/arbitrary.ts';
import { AT, COMPANY, changeOf, firm, itemOf, person, SETTINGS } from '../samples.ts';

const TYPES: { readonly [E in EventName]: NewsType | undefined } = {
  name: 'Information',
  altNames: 'Information',
  address: 'Information',
  industry: 'Information',
  altIndustries: 'Information',
  purpose: 'Information',
  powerToBind: 'Information',
  bylawsChangedDate: 'Information',
  capital: 'Information',
  form: 'Information',
  email: 'Information',
  fax: 'Information',
  phoneNumber: 'Information',
  website: 'Information',
  newReport: 'Account',
  newCompany: 'NewCompany',
  ownership: 'Ownership',
  trueOwnership: 'Ownership',
  trueVoteRights: 'Ownership',
  accountant: 'Accountant',
  board: 'Board',
  management: 'Management',
  status: 'StatusChange',
  lifetimeStarted: 'Lifetime',
  lifetimeEnded: 'Lifetime',
  stakeholders: 'Stakeholder',
  merger: 'StatusChange',
  pUnitUpdated: 'Information',
  pUnitAdded: 'Information',
  pUnitRemoved: 'Information',
  subsidiaryFounded: 'Ownership',
  commercialProtection: 'Information',
  monthlyEmployeeCount: 'Information',
  quarterlyEmployees: 'Information',
  yearlyEmployees: 'Information',
  newArticle: 'PressAgency',
  addedToMonitor: undefined,
  removedFromMonitor: undefined,
};

describe('news of a change', () => {
  it.each(EVENT_NAMES)('of %s have their type', (event) => {
    const company = sampleCompany(3);
    const sampled = CHANGES[event](company, randomFrom(5), AT).updates;
    const updates =
      event === 'monthlyEmployeeCount' ? { [event]: { year: 2026, month: 1, before: 4, after: 5 } } : sampled;
    const types = newsOf(changeOf(updates), SETTINGS).map(({ type }) => type);
    expect(types).toEqual(TYPES[event] === undefined ? [] : [TYPES[event]]);
  });

  it('are one item for each type, however many events it has', () => {
    const updates = {
      ...CHANGES.ownership(sampleCompany(1), randomFrom(1), AT).updates,
      ...CHANGES.trueOwnership(sampleCompany(1), randomFrom(1), AT).updates,
      ...CHANGES.board(sampleCompany(1), randomFrom(1), AT).updates,
      name: { before: 'A', after: 'B' },
      website: { before: null, after: 'b.example' },
    };
    const items = newsOf(changeOf(updates), SETTINGS);
    expect(items.map(({ type }) => type).sort()).toEqual(['Board', 'Information', 'Ownership']);
    expect(new Set(items.map(({ id }) => id)).size).toBe(3);
    expect(new Set(items.map(({ storyId }) => storyId)).size).toBe(1);
  });

  it('have the same id each time, and another for another change', () => {
    const id = (change: string): string => itemOf({ website: { before: null, after: 'b.example' } }, { id: change }).id;
    expect(id('a')).toBe(id('a'));
    expect(id('a')).not.toBe(id('b'));
  });

  it('are promoted for seven days and link to the company', () => {
    const item = itemOf({ website: { before: null, after: 'b.example' } });
    expect(item).toMatchObject({
      time: Date.parse(AT),
      promotedUntil: Date.parse('2026-03-09T09:10:11.000Z'),
      provider: 'VIRK',
      providerData: null,
      url: 'https://register.example/enhed/virksomhed/10000001',
    });
  });

  it('are not made of a person’s change, a full state or a monitor’s list', () => {
    const updates = { board: { added: [person('Eksempla Testesen')], removed: [] } };
    expect(newsOf(changeOf(updates, { entity: 'CVR-3-4000000001' }), SETTINGS)).toEqual([]);
    expect(newsOf(changeOf(updates, { kind: 'state' }), SETTINGS)).toEqual([]);
    expect(newsOf(changeOf(updates, { kind: 'monitor' }), SETTINGS)).toEqual([]);
    expect(newsOf(changeOf({ board: { added: [], removed: [] } }), SETTINGS)).toEqual([]);
  });

  it('name each of their entities once, the company first', () => {
    const leaver = person('Attrap Nulrup', 4_000_000_002);
    const item = itemOf({
      accountant: { added: [firm('Kladde Revision'), person('Attrap Nulrup', 4_000_000_002)], removed: [leaver] },
    });
    expect(item.entities).toEqual([
      { entityId: COMPANY, name: 'Prøvelund Møbler A/S', isMainId: true },
      { entityId: 'CVR-1-20000001', name: 'Kladde Revision', isMainId: false },
      { entityId: 'CVR-3-4000000002', name: 'Attrap Nulrup', isMainId: false },
    ]);
  });
});

const VOID = new Set(['br']);

/** Whether every tag is one of ours, closed if it was opened. */
function isSound(html: string): boolean {
  const open: string[] = [];
  for (const [, slash, name = '', rest = ''] of html.matchAll(/<(\/?)([^\s>]*)([^>]*)>/g)) {
    if (!/^(?:p|ul|li|br|a)$/.test(name)) return false;
    if (rest !== '' && !(name === 'a' && /^ href="https?:[^"<>]*"$/.test(rest))) return false;
    if (VOID.has(name)) continue;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}

describe('news of any change', () => {
  it('has valid HTML, single lines, and tokens that name its entities', () => {
    fc.assert(
      fc.property(arbitraryPayload(), fc.string({ unit: 'binary', maxLength: 20 }), ({ timestamp, updates }, name) => {
        for (const item of newsOf(changeOf(updates, { timestamp, name }), SETTINGS)) {
          expect(isSound(item.content)).toBe(true);
          expect(`${item.headline}${item.tagLine}`).not.toMatch(/[\r\n]/);
          const known = new Set(item.entities.map(({ entityId }) => entityId));
          const isKnown = (id: string): boolean => {
            expect(known).toContain(id);
            return true;
          };
          const left = [item.headline, item.tagLine, item.content].map((text) => resolveTokens(text, isKnown)).join('');
          expect(left).not.toMatch(/[{}]/);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('covers every event in the table of this test', () => {
    expect(Object.keys(TYPES).sort()).toEqual(Object.keys(EVENTS).sort());
  });
});

describe('a company named like a script', () => {
  const name = '<script>alert("1")</script> {A|CVR-1-99999999}';

  it('is harmless in content, and its token stays one', () => {
    const { content, headline } = itemOf({ purpose: { before: name, after: '<b>{x|y}</b>\nto' } }, { name });
    expect(content).toBe(
      '<p>{&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; (A¦CVR-1-99999999)|CVR-1-10000001} har ændret sit formål.</p>' +
        '<ul><li>Formål: &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; (A|CVR-1-99999999) → &lt;b&gt;(x|y)&lt;/b&gt;<br>to</li></ul>',
    );
    expect(headline).toBe('{<script>alert("1")</script> (A¦CVR-1-99999999)|CVR-1-10000001} har ændret sit formål');
  });
});
