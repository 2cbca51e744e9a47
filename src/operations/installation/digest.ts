/** The weekly digest as it would go out now. */
import Type from 'typebox';
import type { AlertSettings } from '../../alerts/channel.ts';
import { type DigestFigures, digestMessage, readDigest } from '../../alerts/digest.ts';
import type { DigestLanguage } from '../../alerts/digest-words.ts';
import type { AlertMessage } from '../../alerts/message.ts';
import { isoTime, timeText } from '../../service/routes/schemas.ts';
import type { Store } from '../../store/store.ts';
import { defineOperation, type Moment } from '../definition/operation.ts';

const WEEK_MS = 7 * 86_400_000;

export interface DigestNeeds {
  readonly store: Store;
  /** Its settings; `language` is undefined if it is off. */
  readonly digest: () => {
    readonly place: string;
    readonly dashboard: string | undefined;
    readonly language: DigestLanguage | undefined;
    readonly timeZone: string;
    /** Where alerts go; undefined if nowhere. */
    readonly alerts: AlertSettings | undefined;
  };
}

/** The digest of the last seven days, in the configured language. */
export async function digestNow({ store, digest, now }: DigestNeeds & Moment): Promise<AlertMessage> {
  const { place, dashboard, language = 'en', timeZone } = digest();
  return digestMessage(await readDigest(store, now - WEEK_MS, now, now), { place, dashboard, language, timeZone });
}

export interface DigestPreview extends AlertMessage {
  readonly isOn: boolean;
  readonly figures: DigestFigures;
}

const count = Type.Integer({ minimum: 0 });

export const previewDigest = defineOperation({
  name: 'digest.preview',
  role: 'viewer',
  about: 'show the weekly digest of the last seven days as it would be sent; sends nothing',
  input: Type.Object({
    language: Type.Optional(Type.Enum(['en', 'da'], { description: 'the language (default: as configured, else en)' })),
  }),
  api: {
    method: 'GET',
    path: '/alerts/digest',
    operationId: 'previewDigest',
    status: 200,
    answer: Type.Object(
      {
        isOn: Type.Boolean({ description: 'Whether alerts.digest is configured' }),
        subject: Type.String(),
        text: Type.String(),
        since: timeText('Where it begins'),
        until: timeText('Where it ends'),
        counts: Type.Object({ written: count, kept: count, undone: count, refused: count, sent: count, failed: count }),
        review: count,
        differences: count,
        conditions: count,
      },
      { description: 'The digest: numbers, no values of companies and no names' },
    ),
  },
  async read(_db, { language }, { store, digest, now }: DigestNeeds & Moment) {
    const { place, dashboard, language: configured, timeZone } = digest();
    const figures = await readDigest(store, now - WEEK_MS, now, now);
    const message = digestMessage(figures, { place, dashboard, language: language ?? configured ?? 'en', timeZone });
    return { value: { ...message, isOn: configured !== undefined, figures } };
  },
  view: ({ figures: { since, until, ...rest }, ...preview }: DigestPreview) => ({
    ...preview,
    since: isoTime(since),
    until: isoTime(until),
    ...rest,
  }),
});
