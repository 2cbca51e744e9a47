/** What becomes of two links that name one record by two spellings of its id. */
import { describe, expect, it } from 'vitest';
import type { Link } from '../../../src/connector/links/links.ts';
import { uniteLinks } from '../../../src/connector/respell/unite.ts';

const A = 'CVR-1-10000001';
const B = 'CVR-1-10000002';
const LONG = '001D000000IqhSLIAZ';
const SHORT = '001D000000IqhSL';

const linkOf = (record_id: string, more: Partial<Link> = {}): Link => ({
  provider: 'sf',
  record_id,
  entity: A,
  state: 'active',
  reason: null,
  desired: 'on',
  observed: 'on',
  observed_at: 1,
  observed_error: null,
  send_update: 0,
  synced_seq: 4,
  synced_at: 1,
  asked_seq: null,
  origin: 'person',
  trust: 'crm',
  writes_number: 0,
  mismatch: null,
  created_at: 1,
  updated_at: 1,
  ...more,
});
const united = (old: Partial<Link>, same?: Partial<Link>) =>
  uniteLinks(linkOf(SHORT, old), same && linkOf(LONG, same), LONG, 9);

describe('links of a Salesforce id in 15 and in 18 characters', () => {
  it('become one under the canonical id, which the service is asked for anew', () => {
    expect(united({ origin: 'number', trust: 'register' })).toMatchObject({
      kind: 'link',
      link: { record_id: LONG, entity: A, state: 'active', desired: 'on', observed: 'unknown', trust: 'register' },
    });
    expect(united({ state: 'removed', desired: 'off' })).toMatchObject({ link: { state: 'removed', observed: 'off' } });
  });

  it('of one company keep what either holds back', () => {
    expect(united({ origin: 'person', send_update: 1 }, { origin: 'number', trust: 'register' })).toMatchObject({
      link: { record_id: LONG, state: 'active', origin: 'person', trust: 'crm', send_update: 1, observed: 'on' },
    });
    expect(united({ state: 'conflict', mismatch: B, reason: 'why' }, {})).toMatchObject({
      link: { state: 'conflict', mismatch: B, reason: 'why' },
    });
  });

  it('of two companies become a conflict that names both, whatever a number says', () => {
    expect(united({ entity: B }, {})).toMatchObject({
      link: {
        record_id: LONG,
        entity: A,
        state: 'conflict',
        mismatch: null,
        reason: expect.stringMatching(new RegExp(`${A}.*${SHORT} for ${B}.*monitoring add sf ${B} ${LONG}`, 'u')),
      },
    });
  });

  it('become a conflict where a person removed one of them and the other went on', () => {
    expect(united({}, { state: 'removed', desired: 'off', observed: 'off' })).toMatchObject({
      link: { state: 'conflict', entity: A, desired: 'on' },
    });
    expect(united({}, { state: 'removed', origin: 'number', desired: 'off', observed: 'off' })).toMatchObject({
      link: { state: 'active', entity: A },
    });
  });

  it('leave the canonical one alone where the other has ended', () => {
    expect(united({ entity: B, state: 'gone', desired: 'off' }, {})).toEqual({ kind: 'link', link: linkOf(LONG) });
  });

  it('wait while the service has yet to confirm the end of the canonical one', () => {
    const ended = { entity: B, state: 'removed', desired: 'off', observed: 'unknown' } as const;
    expect(united({}, ended)).toEqual({ kind: 'later' });
    expect(united({}, { ...ended, observed: 'off' })).toMatchObject({ kind: 'link', link: { entity: A } });
  });
});
