/**
 * The weekly digest: what was written, kept and undone, what waits and what failed. Only numbers, no values or names.
 */
import { countDifferences } from '../connector/history/differences.ts';
import { countReview } from '../connector/review/review-list.ts';
import { clockIn } from '../protocol/text/zone-clock.ts';
import { readActivity } from '../runtime/activity/activity.ts';
import { lastDigest, nextDigest } from '../service/mail/digest-hour.ts';
import type { ActivityKind } from '../store/runtime-schema.ts';
import type { Db, Store } from '../store/store.ts';
import { conditionsOf } from './conditions.ts';
import { type DigestLanguage, type DigestWords, digestWords } from './digest-words.ts';
import type { AlertMessage } from './message.ts';
import { observe } from './observe.ts';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

/** The day and hour in the time zone, and the language. */
export interface DigestSettings {
  readonly day: (typeof WEEKDAYS)[number];
  readonly hour: number;
  readonly language: DigestLanguage;
  readonly timeZone: string;
}

type Schedule = Omit<DigestSettings, 'language'>;

const isDay = (at: number, { day, timeZone }: Schedule): boolean =>
  WEEKDAYS[new Date(clockIn(timeZone).clockAt(at)).getUTCDay()] === day;

const timeOf = ({ hour, timeZone }: Schedule) => ({ digestHour: hour, timeZone });

/** The last time at or before `now` when the digest was due. */
export function lastWeekly(now: number, schedule: Schedule): number {
  let at = lastDigest(now, timeOf(schedule));
  while (!isDay(at, schedule)) at = lastDigest(at - 1, timeOf(schedule));
  return at;
}

/** The first time after `now` when the digest is due. */
export function nextWeekly(now: number, schedule: Schedule): number {
  let at = nextDigest(now, timeOf(schedule));
  while (!isDay(at, schedule)) at = nextDigest(at, timeOf(schedule));
  return at;
}

const COUNTED = ['written', 'kept', 'undone', 'refused', 'sent', 'failed'] as const satisfies readonly ActivityKind[];

export interface DigestFigures {
  readonly since: number;
  readonly until: number;
  /** Properties by outcome, and delivery attempts. */
  readonly counts: Readonly<Record<(typeof COUNTED)[number], number>>;
  /** Both counted up to {@link MOST}. */
  readonly review: number;
  readonly differences: number;
  /** How many conditions need a person now, as the alerts report them. */
  readonly conditions: number;
}

/** Counted up to one more than this number. */
const MOST = 1_000;

/** Reads the figures from `since` to `until`, by the hour, and what waits now. */
export async function readDigest(store: Store, since: number, until: number, now: number): Promise<DigestFigures> {
  const thresholds = { reviewOver: MOST, registerBehindMinutes: 60 };
  const review = await countReview(store.db, now, { limit: MOST + 1 });
  return {
    since,
    until,
    counts: await countsOf(store.db, since, until),
    review,
    differences: await countDifferences(store.db, now, {}, MOST + 1),
    conditions: conditionsOf(await observe(store, now, MOST, review), thresholds, now).length,
  };
}

async function countsOf(db: Db, since: number, until: number): Promise<DigestFigures['counts']> {
  const rows = (await readActivity(db, 'hour', COUNTED, since)).filter(({ at }) => at < until);
  const sum = (kind: ActivityKind): number =>
    rows.reduce((total, row) => total + (row.kind === kind ? row.count : 0), 0);
  return {
    ...{ written: sum('written'), kept: sum('kept'), undone: sum('undone') },
    ...{ refused: sum('refused'), sent: sum('sent'), failed: sum('failed') },
  };
}

/** `dashboard` is its address in a browser, for links. */
export function digestMessage(
  { since, until, counts, review, differences, conditions }: DigestFigures,
  {
    place,
    dashboard,
    language,
    timeZone,
  }: {
    readonly place: string;
    readonly dashboard?: string | undefined;
    readonly language: DigestLanguage;
    readonly timeZone: string;
  },
): AlertMessage {
  const words = digestWords(language, timeZone);
  const rows: readonly (readonly [name: keyof DigestWords['rows'], count: number, path: string])[] = [
    ['written', counts.written, '/writes'],
    ['kept', counts.kept, '/inbox?kind=difference'],
    ['undone', counts.undone, '/runs'],
    ['review', review, '/inbox'],
    ['differences', differences, '/inbox?kind=difference'],
    ['refused', counts.refused, '/inbox?kind=value'],
    ['sent', counts.sent, '/deliveries'],
    ['failed', counts.failed, '/deliveries?state=failing'],
    ['conditions', conditions, '/'],
  ];
  const shown = rows.map(([name, count, path]) => {
    const number =
      count > MOST && (name === 'review' || name === 'differences') ? words.moreThan(MOST) : words.number(count);
    const link = dashboard === undefined || count === 0 ? '' : ` ${dashboard}${path}`;
    return `• ${words.rows[name]}: ${number}${link}`;
  });
  const head = words.head(place, since, until);
  const foot = dashboard === undefined ? [words.withoutLinks] : [];
  return { subject: `cvrsync: ${words.subject(since, until)}`, text: [head, '', ...shown, ...foot].join('\n') };
}
