/** Turns a bankruptcy notice of the gazette into an article about each company that it names. Pure. */
import { decodeHTMLStrict } from 'entities';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { escapeHtml } from '../../protocol/news.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import { withoutSlash } from '../../protocol/text/trim.ts';
import type { Change } from '../changes/change.ts';
import { startOf } from '../register/document/today.ts';
import { isPersonalField, withoutPersonalNumbers } from './personal-numbers.ts';

/** The kinds of notices to search for. All are about bankruptcies; other kinds may be about natural persons. */
export const NOTICE_KINDS = {
  '14a1d71d-f215-58e5-ade0-214f90482cdc': 'Konkursdekret',
  '383f1800-1b39-5f39-8250-61a5c0798fad': 'Konkursdekret ophævet',
  '941c2e75-9f32-5408-a946-031217b6d669': 'Skiftesamling i konkursbo',
  '24295ca1-259a-5876-ba7b-f8ef496feed6': 'Fordringsprøvelse i konkursbo',
  '018d0141-0efb-5472-a698-9328817df00a': 'Regnskab og boafslutning i konkursbo',
  '603102f0-9e3f-5ad9-9538-175719970bde': 'Meddelelse om konkursbo',
} as const;
export type GazetteNoticeKind = keyof typeof NOTICE_KINDS;

const KIND_NAMES: readonly (readonly [RegExp, GazetteNoticeKind])[] = [
  [/ophæv/i, '383f1800-1b39-5f39-8250-61a5c0798fad'],
  [/dekret/i, '14a1d71d-f215-58e5-ade0-214f90482cdc'],
  [/skiftesamling/i, '941c2e75-9f32-5408-a946-031217b6d669'],
  [/fordringsprøv/i, '24295ca1-259a-5876-ba7b-f8ef496feed6'],
  [/regnskab|boafslutning/i, '018d0141-0efb-5472-a698-9328817df00a'],
];

export interface FoundNotice {
  readonly number: string;
  /** The day of publication in Copenhagen, YYYY-MM-DD. */
  readonly day: string;
  readonly title: string;
  /** The kind that the line itself names, if it is a known one. */
  readonly kind?: GazetteNoticeKind | undefined;
  readonly summary: readonly Field[];
}

interface Field {
  readonly name: string;
  readonly value: string;
}

interface Group {
  readonly name: string;
  readonly fields: readonly Field[];
}

export function readFound(json: unknown): FoundNotice | undefined {
  const line = isJsonObject(json) ? json : {};
  const { messageNumber, published, publicationDate, title, summary, sectionName, messageTypeName } = line;
  // The search is undocumented: if it stops filtering by kind, notices about persons must not pass.
  if (typeof sectionName === 'string' && !/konkurs/i.test(sectionName)) return undefined;
  const day = /^\d{4}-\d{2}-\d{2}/.exec(String(published ?? publicationDate ?? ''))?.[0];
  // The number becomes part of a URL.
  if (typeof messageNumber !== 'string' || !/^[\w-]{1,40}$/.test(messageNumber) || day === undefined) return undefined;
  if (Number.isNaN(Date.parse(day))) return undefined;
  const kind = KIND_NAMES.find(([name]) => typeof messageTypeName === 'string' && name.test(messageTypeName))?.[1];
  return {
    number: messageNumber,
    day,
    title: typeof title === 'string' ? title : '',
    kind,
    summary: readFields(summary),
  };
}

/** The groups of a notice's document, which is JSON in a string. */
export function readDocument(json: unknown): readonly Group[] | undefined {
  const { document } = isJsonObject(json) ? json : {};
  const inside = typeof document === 'string' ? parsed(document) : document;
  if (!isJsonObject(inside)) return undefined;
  const groups = inside['fieldgroups'] ?? inside['fieldGroups'];
  if (!Array.isArray(groups)) return undefined;
  return groups.flatMap((group: unknown) => {
    const { name, fields } = isJsonObject(group) ? group : {};
    return typeof name === 'string' ? [{ name, fields: readFields(fields) }] : [];
  });
}

/** Whether the search result shows that a notice is about a natural person. cvrsync does not fetch such a notice. */
export const isOfPerson = ({ summary }: FoundNotice): boolean =>
  summary.some(({ name }) => /cpr/i.test(name)) && companiesIn(summary).length === 0;

export interface Edition {
  /** The kind of the search; used if the line does not name one. */
  readonly kind: GazetteNoticeKind;
  readonly baseUrl: string;
  readonly source: string;
}

/** A change for each debtor that is a company. Holds no personal numbers and no addresses of debtors. */
export function changesOf(found: FoundNotice, groups: readonly Group[], edition: Edition): readonly Change[] {
  const debtors = groups.filter(({ name }) => /skyldner|debitor/i.test(name));
  const numbers = companiesIn([...debtors.flatMap(({ fields }) => fields), ...found.summary]);
  const time = new Date(startOf(found.day)).toISOString();
  return numbers.map((number) => {
    const name = nameIn(debtors, number) ?? safe(found.title);
    const label = NOTICE_KINDS[found.kind ?? edition.kind];
    const court = valueIn(groups, /^skifteret/i) ?? valueIn([{ name: '', fields: found.summary }], /^retskreds/i);
    return {
      id: `gazette ${found.number} ${number}`,
      entity: companyEntityId(number),
      name,
      kind: 'article',
      timestamp: time,
      updates: {
        newArticle: {
          source: edition.source,
          headline: `${label}: ${name}`,
          tagline: court ?? null,
          content: contentOf(found, groups, label),
          time,
          link: `${withoutSlash(edition.baseUrl)}/messages/${found.number}`,
        },
      },
    };
  });
}

function contentOf(found: FoundNotice, groups: readonly Group[], label: string): string {
  const lead = `<p>${escapeHtml(`${label}, meddelelse ${found.number}`)}</p>`;
  return lead + groups.map(groupOf).join('');
}

/** Shows only name and number of debtors: the address of a sole proprietor is a person's home. */
function groupOf({ name, fields }: Group): string {
  const isDebtor = /skyldner|debitor/i.test(name);
  const kept = fields.filter(
    (field) => field.value !== '' && !isPersonalField(field.name) && (!isDebtor || /^(?:navn|cvr)/i.test(field.name)),
  );
  if (kept.length === 0) return '';
  const lines = kept.map((field) => `<li>${escapeHtml(`${safe(field.name)}: ${safe(field.value)}`)}</li>`);
  return `<p><b>${escapeHtml(safe(name))}</b></p><ul>${lines.join('')}</ul>`;
}

const safe = (text: string): string => withoutPersonalNumbers(decodeHTMLStrict(text)).replace(/\s+/g, ' ').trim();

const companiesIn = (fields: readonly Field[]): readonly string[] => [
  ...new Set(
    fields
      .filter(({ name }) => /^\s*cvr/i.test(name))
      .flatMap(({ value }) => /^(?:DK)?(\d{8})$/i.exec(value.replace(/[\s.-]/g, ''))?.[1] ?? []),
  ),
];

function nameIn(groups: readonly Group[], number: string): string | undefined {
  for (const { fields } of groups) {
    let name: string | undefined;
    for (const field of fields) {
      if (/^navn/i.test(field.name)) name = safe(field.value);
      if (companiesIn([field]).includes(number) && name !== undefined && name !== '') return name;
    }
  }
  return undefined;
}

function valueIn(groups: readonly Group[], field: RegExp): string | undefined {
  const found = groups.flatMap(({ fields }) => fields).find(({ name, value }) => field.test(name) && value !== '');
  return found === undefined ? undefined : safe(found.value);
}

const readFields = (json: unknown): readonly Field[] =>
  (Array.isArray(json) ? json : []).flatMap((field: unknown) => {
    const { name, value } = isJsonObject(field) ? field : {};
    const isText = typeof value === 'string' || typeof value === 'number';
    return typeof name === 'string' && isText ? [{ name, value: String(value) }] : [];
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
