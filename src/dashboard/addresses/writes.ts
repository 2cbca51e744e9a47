/** The selection of writes, in the fields of a form or of an address. */
import type { Selection } from '../../connector/undo/writes.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { canonicalEntityId, companyEntityId } from '../../protocol/entity-id.ts';
import type { Reader } from '../page/reader.ts';
import { readTime, typedTime } from '../page/typed-time.ts';

/** In the order of the form. */
export const SELECTION_FIELDS = [
  'provider',
  'record',
  'entity',
  'property',
  'rule',
  'event',
  'since',
  'until',
] as const;

type SelectionField = (typeof SELECTION_FIELDS)[number];
type Zoned = Pick<Reader, 'timeZone'>;

export type SelectionTexts = Readonly<Record<SelectionField, string>>;

/** A selection, or the text that is not a time. */
export type ReadSelection =
  | { readonly ok: true; readonly selection: Selection }
  | { readonly ok: false; readonly value: string };

/** The fields as given; empty if missing. */
export function selectionTexts(given: (name: string) => string): SelectionTexts {
  const [provider, record, entity, property, rule, event, since, until] = SELECTION_FIELDS.map((name) =>
    given(name).trim().slice(0, 200),
  );
  return {
    provider: provider ?? '',
    record: record ?? '',
    entity: entity ?? '',
    property: property ?? '',
    rule: rule ?? '',
    event: event ?? '',
    since: since ?? '',
    until: until ?? '',
  };
}

/** Reads the fields. A record may name its connection: `hubspot:123`. A time without a zone is in the reader's. */
export function readSelection(texts: SelectionTexts, { timeZone }: Zoned): ReadSelection {
  const [, named, id] = /^([^:\s]+):(.+)$/.exec(texts.record) ?? [];
  const since = readTime(texts.since, timeZone);
  const until = readTime(texts.until, timeZone);
  if (since === 'unreadable') return { ok: false, value: texts.since };
  if (until === 'unreadable') return { ok: false, value: texts.until };
  const text = (value: string): string | undefined => value || undefined;
  return {
    ok: true,
    selection: {
      provider: named ?? text(texts.provider),
      record: id ?? text(texts.record),
      entity: entityIn(texts.entity) ?? text(texts.entity),
      property: text(texts.property),
      rule: text(texts.rule),
      event: /^\d{1,15}$/.test(texts.event) ? Number(texts.event) : texts.event === '' ? undefined : -1,
      since,
      until,
    },
  };
}

const entityIn = (text: string): string | undefined => {
  const cvr = readCvrNumber(text);
  return canonicalEntityId(text) ?? (cvr.kind === 'number' ? companyEntityId(cvr.number) : undefined);
};

/** The inverse of {@link readSelection}. */
export function textsOf(selection: Selection, { timeZone }: Zoned): SelectionTexts {
  const text = (value: string | number | undefined): string => (value === undefined ? '' : String(value));
  const { provider, record, entity, property, rule, event, since, until } = selection;
  return {
    provider: text(provider),
    record: text(record),
    entity: text(entity),
    property: text(property),
    rule: text(rule),
    event: text(event),
    since: since === undefined ? '' : typedTime(since, timeZone),
    until: until === undefined ? '' : typedTime(until, timeZone),
  };
}

const MINUTE_MS = 60_000;

/** Narrows the fields to writes since a time, to the minute. */
export const sinceThen = (texts: SelectionTexts, ms: number, { timeZone }: Zoned): SelectionTexts => ({
  ...texts,
  since: typedTime(ms - (ms % MINUTE_MS), timeZone),
  until: '',
});

export function writesAddress(texts: Partial<SelectionTexts>, more: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries({ ...texts, ...more }).filter(([, value]) => value !== '');
  return pairs.length === 0 ? '/writes' : `/writes?${new URLSearchParams(pairs)}`;
}
