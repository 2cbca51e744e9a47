/** Parses the form of a mapping: its rows, their details, and the pressed button. Pure. */
import { FIELDS, type FieldName, isFieldName } from '../../../providers/fields.ts';
import type { Policy, PropertyValue } from '../../../providers/provider.ts';
import type { DraftConnection } from '../../setup/draft.ts';
import type { DraftRow } from '../../setup/mapping-draft.ts';
import { type Fields, fieldValue, fieldValues } from '../page/fields.ts';

export const POLICIES = ['tracked', 'always', 'if-blank', 'never'] as const satisfies readonly Policy[];

/** What a button of the form does; the page's script sends `draw` to redraw what changed. */
const PRESSES = ['save', 'show', 'draw', 'next', 'count', 'cancel', 'open'] as const;
export type Press = (typeof PRESSES)[number];

type Values = NonNullable<DraftConnection['values']>;
type Only = NonNullable<DraftConnection['only']>;

export interface MappingAnswers {
  readonly rows: readonly DraftRow[];
  readonly values: Values;
  readonly only: Only;
  /** The row whose details are open, counted from 0. */
  readonly open: number | undefined;
  /** The record to show before and after; empty before one is chosen. */
  readonly record: string;
}

/** Marks the row whose details are open, and so are in other fields of the form. */
export const OPEN = 'open';

export function pressedIn(fields: Fields): { readonly press: Press; readonly row: number } {
  const [name = '', row = ''] = fieldValue(fields, 'do').split(':');
  return { press: PRESSES.find((each) => each === name) ?? 'show', row: Number(row) };
}

/** The rows as sent: one field of each name per row, in one order. */
export function answersIn(fields: Fields): MappingAnswers {
  const all = (name: string) => fieldValues(fields, name);
  const [names, properties, policies, more] = [all('f'), all('p'), all('w'), all('m')];
  const sent = names.map((field, at) => {
    const policy = POLICIES.find((each) => each === policies[at]);
    if (!isFieldName(field) || policy === undefined) return undefined;
    const details = more[at] === OPEN ? openDetails(field, fields) : detailsIn(more[at] ?? '');
    return { field, property: (properties[at] ?? '').trim(), policy, ...details };
  });
  const rows = sent.filter((row) => row !== undefined);
  const opened = sent[more.indexOf(OPEN)];
  const { press, row } = pressedIn(fields);
  const wanted = press === 'open' ? sent[row] : opened;
  const open = wanted === undefined ? -1 : rows.indexOf(wanted);
  return {
    rows,
    values: valuesIn(fields, opened?.field),
    only: onlyIn(fields),
    open: open < 0 ? undefined : open,
    record: fieldValue(fields, 'record').trim(),
  };
}

type Details = Pick<DraftRow, 'text' | 'case' | 'join'>;

/** The details of a closed row, from {@link packDetails}. */
function detailsIn(packed: string): Details {
  const parsed = Object(readJson(packed));
  return tidied(parsed['text'], parsed['case'], parsed['join']);
}

function openDetails(field: FieldName, fields: Fields): Details {
  const text = fieldValue(fields, 'text');
  // A space joins lists, so it is not trimmed; only a list has a join.
  return tidied(field === 'composed' ? text : '', fieldValue(fields, 'case'), fieldValue(fields, 'join'));
}

const tidied = (text: unknown, letters: unknown, join: unknown): Details => ({
  ...(typeof text === 'string' && text !== '' && { text }),
  ...((letters === 'upper' || letters === 'lower') && { case: letters }),
  ...(typeof join === 'string' && join !== '' && { join }),
});

export const packDetails = ({ text, case: letters, join }: DraftRow): string => {
  const details = tidied(text, letters, join);
  return Object.keys(details).length === 0 ? '' : JSON.stringify(details);
};

function readJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The values of all fields; those of the open one come as pairs. */
function valuesIn(fields: Fields, open: FieldName | undefined): Values {
  const packed: readonly [string, unknown][] = Object.entries(Object(readJson(fieldValue(fields, 'v'))));
  const kept = packed.flatMap(([field, map]) =>
    isFieldName(field) && field !== open ? [[field, mapOf(Object.entries(Object(map)))] as const] : [],
  );
  const [from, to] = [fieldValues(fields, 'k'), fieldValues(fields, 'o')];
  const typed = from.map((key, at): [string, unknown] => [key.trim(), (to[at] ?? '').trim()]);
  const own = open === undefined ? {} : mapOf(typed.filter(([key]) => key !== ''));
  return Object.fromEntries(
    [...kept, ...(open === undefined ? [] : [[open, own] as const])].filter(([, map]) => Object.keys(map).length > 0),
  );
}

const mapOf = (pairs: readonly [string, unknown][]): Values[string] =>
  Object.fromEntries(pairs.map(([key, value]) => [key, plainValue(value)]));

const plainValue = (value: unknown): PropertyValue =>
  value === '' || value === null
    ? null
    : typeof value === 'number' || typeof value === 'boolean'
      ? value
      : String(value);

function onlyIn(fields: Fields): Only {
  const [names, accepted] = [fieldValues(fields, 'op'), fieldValues(fields, 'ov')];
  const chosen = names.map((name, at) => {
    const lines = (accepted[at] ?? '').split('\n').map((line) => line.trim());
    return [name.trim(), [...new Set([...lines, ...fieldValues(fields, `oc.${name}`)])].filter(Boolean)] as const;
  });
  return Object.fromEntries(chosen.filter(([name, values]) => name !== '' && values.length > 0));
}

/** Whether any property can hold the field. */
export const isMappable = (field: FieldName): boolean => !('partial' in FIELDS[field]);
