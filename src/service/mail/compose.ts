/** Composes the subject, text and HTML of mails from changes. Pure. */
import { dateText } from '../../protocol/describe/danish.ts';
import {
  type DescribedLine,
  type DescribeOptions,
  type Description,
  describeUpdates,
} from '../../protocol/describe/describe.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { escapeHtml } from '../../protocol/news.ts';
import type { Updates } from '../../protocol/payload.ts';
import { entityUrl } from '../news/wording/make.ts';
import { htmlPage, type MailBlock, textPage } from './mail-page.ts';

export interface MailChange extends DescribeOptions {
  readonly entity: string;
  readonly name: string;
  readonly updates: Updates;
  readonly timestamp?: string;
}

export interface MailFrame {
  readonly monitorName: string;
  readonly unsubscribeUrl: string;
}

export interface ChangesMail extends MailFrame {
  /** At least one, in the order in which the service found them. */
  readonly changes: readonly MailChange[];
  readonly more: number;
  readonly baseUrl: string;
}

/** A mail without addresses. The subject has no control characters. */
export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Keeps a mail readable, even a day of a monitor of all companies. */
const MOST_ENTITIES = 50;
const MOST_LINES = 500;
const MOST_LINES_OF_EVENT = 20;
const LONGEST_VALUE = 600;
const LONGEST_SUBJECT = 150;

/** Groups the changes by company, in the order of names, and counts what does not fit. */
export function composeChanges({ changes, more, baseUrl, ...frame }: ChangesMail): Mail {
  const groups = groupsOf(changes);
  const total = changes.length + more;
  const subject = subjectOf(groups, total, more, frame.monitorName);
  const { blocks, left } = fitting(groups, baseUrl);
  const rest = left + more;
  const ending =
    rest === 0 ? [] : [note(`Og ${counted(rest, 'ændring', 'ændringer')} mere, som der ikke er plads til her.`)];
  const intro = `${counted(total, 'ændring', 'ændringer')} i overvågningen ${plain(frame.monitorName)}`;
  return page(subject, [note(intro), ...blocks, ...ending], frame);
}

/** A message about cvrsync itself, with a paragraph for each block of its text. */
export function composeNotice(notice: { readonly subject: string; readonly text: string }, frame: MailFrame): Mail {
  return page(
    notice.subject,
    notice.text.split(/\n\s*\n/).map((paragraph) => note(paragraph.trim())),
    frame,
  );
}

function page(subject: string, blocks: readonly MailBlock[], frame: MailFrame): Mail {
  const footer = {
    text: `Du får denne mail, fordi din adresse står på overvågningen ${plain(frame.monitorName)}.`,
    linkText: 'Afmeld flere mails herfra',
    link: frame.unsubscribeUrl,
  };
  const safe = cut(plain(subject), LONGEST_SUBJECT);
  return { subject: safe, text: textPage(blocks, footer), html: htmlPage(escapeHtml(safe), blocks, footer) };
}

const note = (text: string): MailBlock => ({ kind: 'note', text });

interface Group {
  readonly entity: string;
  name: string;
  readonly changes: MailChange[];
}

function groupsOf(changes: readonly MailChange[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const change of changes) {
    const group = groups.get(change.entity) ?? { entity: change.entity, name: change.name, changes: [] };
    group.name = change.name;
    group.changes.push(change);
    groups.set(change.entity, group);
  }
  return [...groups.values()].sort((a, b) => ORDER.compare(a.name, b.name));
}

const ORDER = new Intl.Collator('da');

function subjectOf(groups: readonly Group[], total: number, more: number, monitorName: string): string {
  const [first] = groups;
  if (first === undefined || groups.length > 1 || more > 0) {
    const where = more > 0 ? '' : ` i ${groups.length} virksomheder`;
    const persons = groups.some(({ entity }) => parseEntityId(entity)?.kind !== 'company');
    return `${counted(total, 'ændring', 'ændringer')}${persons ? '' : where}: ${monitorName}`;
  }
  const titles = [...new Set(first.changes.flatMap(titlesOf))];
  const shown = titles.slice(0, 3).join(', ');
  return `${plain(first.name)}: ${shown}${titles.length > 3 ? ` og ${titles.length - 3} mere` : ''}`;
}

/** What changed, in a few words; the headline of an article. */
const titlesOf = ({ updates }: MailChange): readonly string[] => {
  const { newArticle, ...others } = updates;
  return [
    ...(newArticle === undefined ? [] : [newArticle.headline]),
    ...describeUpdates(others).map(({ title }) => title),
  ];
};

function fitting(
  groups: readonly Group[],
  baseUrl: string,
): { readonly blocks: readonly MailBlock[]; readonly left: number } {
  const blocks: MailBlock[] = [];
  let lines = 0;
  let left = 0;
  for (const [place, group] of groups.entries()) {
    const block: MailBlock = {
      kind: 'entity',
      heading: plain(group.name),
      about: aboutOf(group.entity),
      link: entityUrl(baseUrl, group.entity),
      events: [],
    };
    const events = [];
    for (const change of group.changes) {
      if (place >= MOST_ENTITIES || lines >= MOST_LINES) {
        left++;
        continue;
      }
      const described = describeUpdates(change.updates, change).map(shortened).map(dated(change));
      lines += described.reduce((sum, event) => sum + event.lines.length, 0);
      events.push(...described);
    }
    if (events.length > 0) blocks.push({ ...block, events });
  }
  return { blocks, left };
}

/** Adds the day of the change to titles. An article has its own date. */
const dated =
  ({ timestamp, updates }: MailChange) =>
  <T extends { readonly title: string }>(event: T): T =>
    timestamp === undefined || updates.newArticle !== undefined
      ? event
      : { ...event, title: `${event.title}, ${dateText(timestamp)}` };

function aboutOf(entity: string): string {
  const id = parseEntityId(entity);
  switch (id?.kind) {
    case 'company':
      return `CVR-nr. ${id.number}`;
    case 'productionUnit':
      return `P-nr. ${id.number}`;
    case 'person':
      return 'Person';
    default:
      return entity;
  }
}

function shortened({ title, lines }: Description): {
  readonly title: string;
  readonly lines: readonly DescribedLine[];
  readonly more: number;
} {
  return {
    title,
    lines: lines.slice(0, MOST_LINES_OF_EVENT).map((line) => ({
      ...line,
      label: cut(plain(line.label), LONGEST_SUBJECT),
      before: line.before === null ? null : cut(line.before, LONGEST_VALUE),
      after: line.after === null ? null : cut(line.after, LONGEST_VALUE),
    })),
    more: Math.max(0, lines.length - MOST_LINES_OF_EVENT),
  };
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('da-DK')} ${count === 1 ? one : many}`;

/** On one line, without control characters or direction marks: a name may become part of a header. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u202A-\u202E\u2066-\u2069]+/gu, ' ').trim();

const cut = (text: string, longest: number): string =>
  text.length <= longest
    ? text
    : `${text
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`;
