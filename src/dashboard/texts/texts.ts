/** Every text of the dashboard, in both languages: one table, put together of a part for each page. */
import { ACCESS_TEXTS } from './access.ts';
import { AUDIT_TEXTS } from './audit.ts';
import { BACKFILL_TEXTS } from './backfill.ts';
import { COMPANY_TEXTS } from './companies.ts';
import { CONNECTION_TEXTS } from './connections.ts';
import { DELIVERY_TEXTS } from './deliveries.ts';
import { FRAME_TEXTS } from './frame.ts';
import { INSTALLATION_TEXTS } from './installation.ts';
import { MATCH_TEXTS } from './match.ts';
import { OVERVIEW_TEXTS } from './overview.ts';
import { RECORD_ACTION_TEXTS } from './record-actions.ts';
import { REVIEW_TEXTS } from './review/list.ts';
import { VERB_TEXTS } from './review/verbs.ts';
import { RUN_TEXTS } from './runs.ts';
import { KEY_TEXTS } from './service/keys.ts';
import { MONITOR_FORM_TEXTS } from './service/monitor-form.ts';
import { MONITOR_TEXTS } from './service/monitors.ts';
import { REGISTER_TEXTS } from './service/register.ts';
import { WRITES_TEXTS } from './writes.ts';

/** One text; with a form for one and for many where a number is in it. `{name}` is a place for a value. */
export interface Text {
  readonly en: string | PluralText;
  readonly da: string | PluralText;
}

interface PluralText {
  readonly one: string;
  readonly other: string;
}

const PARTS = {
  ...FRAME_TEXTS,
  ...ACCESS_TEXTS,
  ...AUDIT_TEXTS,
  ...OVERVIEW_TEXTS,
  ...COMPANY_TEXTS,
  ...CONNECTION_TEXTS,
  ...RECORD_ACTION_TEXTS,
  ...REVIEW_TEXTS,
  ...VERB_TEXTS,
  ...MATCH_TEXTS,
  ...BACKFILL_TEXTS,
  ...RUN_TEXTS,
  ...WRITES_TEXTS,
  ...DELIVERY_TEXTS,
  ...MONITOR_TEXTS,
  ...MONITOR_FORM_TEXTS,
  ...KEY_TEXTS,
  ...REGISTER_TEXTS,
  ...INSTALLATION_TEXTS,
};

export type TextKey = keyof typeof PARTS;

export const TEXTS: Readonly<Record<TextKey, Text>> = PARTS;
