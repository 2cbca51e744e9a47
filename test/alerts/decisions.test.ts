/** Alerts with state: which conditions are reported, when, and in which words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Condition, conditionsOf, type Observed } from '../../src/alerts/conditions.ts';
import { messageOf, slackText } from '../../src/alerts/message.ts';
import { type StoredAlert, step } from '../../src/alerts/state.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 22, 17, 0);
const WELL: Observed = {
  blocks: [],
  missingRoles: [],
  failed: [],
  limits: [],
  proposals: [],
  behind: [],
  missing: [],
  differing: [],
  keyEnds: undefined,
  freeBytes: 2 ** 40,
  waiting: 0,
  mailOutage: undefined,
  refusedMail: [],
  monitors: [],
  backupFailsSince: undefined,
  gaps: [],
};
const THRESHOLDS = { reviewOver: 100, registerBehindMinutes: 60 };
const keysOf = (observed: Partial<Observed>): readonly string[] =>
  conditionsOf({ ...WELL, ...observed }, THRESHOLDS, NOW).map(({ key }) => key);

describe('alerts with state: a condition', () => {
  it('does not exist while all is well', () => {
    expect(keysOf({})).toEqual([]);
    expect(keysOf({ freeBytes: undefined })).toEqual([]);
  });

  it('is an account that is refused at once, and one that is rate-limited only if that lasts', () => {
    const block = { account: 'hubspot', since: NOW, until: NOW + MINUTE, reason: 'x' };
    expect(keysOf({ blocks: [{ ...block, fault: 'auth' }] })).toEqual(['account:hubspot']);
    expect(keysOf({ blocks: [{ ...block, fault: 'refused' }] })).toEqual(['account:hubspot']);
    expect(keysOf({ blocks: [{ ...block, fault: 'rate' }] })).toEqual([]);
    expect(keysOf({ blocks: [{ ...block, fault: 'rate', until: NOW + HOUR }] })).toEqual(['account:hubspot']);
  });

  it('is a gap in the store, named to the minute', () => {
    const [told] = conditionsOf({ ...WELL, gaps: [{ since: NOW - HOUR, until: NOW }] }, THRESHOLDS, NOW);
    expect(told).toMatchObject({ what: 'The store holds nothing of 2026-11-22 16:00 UTC to 2026-11-22 17:00 UTC' });
  });

  it('is a configuration that waits to be accepted, and one whose effects cannot be counted if that lasts', () => {
    const counted = { writes: 900, replaced: 700, edits: 700, later: 50 };
    const proposal = { provider: 'hubspot', since: NOW, counted };
    expect(keysOf({ proposals: [proposal] })).toEqual(['rules:hubspot']);
    const [told] = conditionsOf({ ...WELL, proposals: [proposal] }, THRESHOLDS, NOW);
    expect(told?.what).toContain('would write 900 values and replace 750, 700 of them written by people');
    const [untold] = conditionsOf({ ...WELL, proposals: [{ ...proposal, counted: undefined }] }, THRESHOLDS, NOW);
    const gone = { provider: 'hubspot', since: NOW, counted: undefined, removed: 12 };
    const [removed] = conditionsOf({ ...WELL, proposals: [gone] }, THRESHOLDS, NOW);
    expect(removed).toMatchObject({ afterMs: 0, what: expect.stringContaining('12 linked records get no updates') });
    expect(untold).toMatchObject({ afterMs: HOUR, advice: expect.stringContaining('cvrsync config apply hubspot') });
  });

  it('is failed work, the safety limit, a full disk, and the register after an hour', () => {
    expect(keysOf({ failed: [{ queue: 'sync:hubspot', count: 2, since: NOW }] })).toEqual(['failed:sync:hubspot']);
    expect(keysOf({ limits: [{ provider: 'hubspot', since: NOW }] })).toEqual(['limit:hubspot']);
    expect(keysOf({ freeBytes: 500 * 1024 * 1024 })).toEqual(['disk']);
    expect(keysOf({ behind: [{ source: 'cvr', since: NOW - 59 * MINUTE }] })).toEqual([]);
    expect(keysOf({ behind: [{ source: 'cvr', since: NOW - HOUR }] })).toEqual(['source:cvr']);
    const differing = [{ origin: 'datafordeler', compared: 100, differing: 10 }];
    expect(keysOf({ differing })).toEqual(['differing:datafordeler']);
  });

  it('is a dead webhook within hours, not after days', () => {
    const monitor = { id: 'm', name: 'M', isOff: false };
    const told = (one: Partial<Observed['monitors'][number]>, at: number) =>
      step([], conditionsOf({ ...WELL, monitors: [{ ...monitor, since: at, ...one }] }, THRESHOLDS, NOW), NOW).begun
        .length;
    // The overview shows it at once.
    expect(keysOf({ monitors: [{ ...monitor, since: NOW }] })).toEqual(['monitor:m']);
    expect([told({}, NOW - HOUR), told({}, NOW - 2 * HOUR), told({ isOff: true }, NOW)]).toEqual([0, 1, 1]);
  });
});

const KEY = { key: 'k', what: 'hubspot does not accept the credentials', advice: 'Correct them.' };
const at = (minutes: number): number => NOW + minutes * MINUTE;

/** Looks once a minute, as if every message went out; what was told, by minute. */
function lived(present: readonly boolean[], condition: Condition = KEY): readonly string[] {
  let remembered: readonly StoredAlert[] = [];
  const notified: string[] = [];
  for (const [minute, is] of present.entries()) {
    const found = step(remembered, is ? [condition] : [], at(minute));
    notified.push(...found.begun.map(() => `${minute} begun`), ...found.over.map(() => `${minute} over`));
    remembered = found.sent;
  }
  return notified;
}

describe('alerts with state: an alert', () => {
  it('is sent once when it begins and once when it is over, never one per event', () => {
    const calm = 15;
    const present = [...Array(30).fill(true), ...Array(60).fill(false)];
    expect(lived(present)).toEqual(['0 begun', `${30 + calm} over`]);
  });

  it('is not repeated if the condition returns before it was surely over', () => {
    const present = Array.from({ length: 200 }, (_, minute) => minute < 150 && minute % 5 === 0);
    expect(lived(present)).toEqual(['0 begun', `${146 + 15} over`]);
  });

  it('is sent only after the time the condition must last, and never if it ends before', () => {
    const slow = { ...KEY, afterMs: 60 * MINUTE };
    expect(lived(Array(100).fill(true), slow)).toEqual(['60 begun']);
    expect(lived([...Array(59).fill(true), ...Array(100).fill(false)], slow)).toEqual([]);
  });

  it('begins and ends in turn, whatever happens', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (present) => {
        const words = lived(present).map((each) => each.split(' ')[1]);
        expect(words).toEqual(words.map((_, index) => (index % 2 === 0 ? 'begun' : 'over')));
      }),
    );
  });

  it('is sent again if it could not be sent', () => {
    const first = step([], [KEY], at(0));
    const second = step(first.unsent, [KEY], at(7));
    expect(second.begun).toMatchObject([{ key: 'k', since: at(0) }]);
    expect(step(second.sent, [KEY], at(8)).begun).toEqual([]);
    expect(step(first.unsent, [], at(9)).sent).toEqual([]);
  });
});

describe('alerts with state: the message', () => {
  it('says what, since when and what to do', () => {
    const { begun, over } = step([], [KEY], NOW);
    expect(messageOf({ begun, over }, 'https://sync.example.com')).toEqual({
      subject: 'cvrsync: hubspot does not accept the credentials',
      text: [
        'cvrsync at https://sync.example.com needs a person:',
        '',
        '• hubspot does not accept the credentials, since 2026-11-22 17:00 UTC.',
        '  Correct them.',
      ].join('\n'),
    });
  });

  it('says from when to when it lasted once it is over', () => {
    const remembered = step([], [KEY], NOW).sent;
    const gone = step(remembered, [], at(10)).sent;
    expect(messageOf(step(gone, [], at(30)), 'here')).toEqual({
      subject: 'cvrsync: over: hubspot does not accept the credentials',
      text: 'Over at here:\n\n• hubspot does not accept the credentials: from 2026-11-22 17:00 UTC to 2026-11-22 17:10 UTC.',
    });
  });

  it('repeats no text of a CRM, which may name persons or hold a secret', () => {
    const block = { account: 'hubspot', since: NOW, until: NOW, fault: 'auth' } as const;
    const notified = conditionsOf(
      { ...WELL, blocks: [{ ...block, reason: 'pat-na1-secret of Jens Hansen' }] },
      THRESHOLDS,
      NOW,
    );
    expect(JSON.stringify(notified)).not.toMatch(/secret|Jens/u);
  });

  it('contains no command for Slack', () => {
    expect(slackText('<!channel> & <@U1>')).toBe('&lt;!channel&gt; &amp; &lt;@U1&gt;');
  });
});
