/** Lays out a mail as text and as HTML. Escapes all values. Pure. */

import { type DescribedLine, lineText } from '../../protocol/describe/describe.ts';
import { escapeHtml } from '../../protocol/news.ts';
import { isWebAddress } from '../news/wording/phrase.ts';

export interface EventBlock {
  readonly title: string;
  readonly lines: readonly DescribedLine[];
  readonly more: number;
}

export type MailBlock =
  | { readonly kind: 'note'; readonly text: string }
  | {
      readonly kind: 'entity';
      readonly heading: string;
      readonly about: string;
      readonly link: string;
      readonly events: readonly EventBlock[];
    };

export interface Footer {
  readonly text: string;
  readonly linkText: string;
  readonly link: string;
}

export function textPage(blocks: readonly MailBlock[], footer: Footer): string {
  const body = blocks.map((block) => (block.kind === 'note' ? block.text : textEntity(block)));
  return `${[...body, `-- \n${footer.text}\n${footer.linkText}: ${footer.link}`].join('\n\n')}\n`;
}

function textEntity({ heading, about, link, events }: Extract<MailBlock, { kind: 'entity' }>): string {
  const parts = runs(events).map((run) => {
    if (Array.isArray(run)) return run.map(lineText).join('\n');
    const { title, lines, more } = run;
    const rest = more > 0 ? [`  … og ${more} mere`] : [];
    return [title, ...lines.map((line) => `  ${lineText(line)}`), ...rest].join('\n');
  });
  return [`${heading} (${about})\n${link}`, ...parts].join('\n\n');
}

/** Groups events whose only line repeats the title, so that they need none. */
function runs(events: readonly EventBlock[]): readonly (EventBlock | DescribedLine[])[] {
  const all: (EventBlock | DescribedLine[])[] = [];
  for (const event of events) {
    const [line, ...others] = event.lines;
    const last = all.at(-1);
    if (line === undefined || others.length > 0 || !line.label.startsWith(event.title)) all.push(event);
    else if (Array.isArray(last)) last.push(line);
    else all.push([line]);
  }
  return all;
}

/** One HTML document with inline styles, because mail programs drop others. `title` is HTML. */
export function htmlPage(title: string, blocks: readonly MailBlock[], footer: Footer): string {
  const body = blocks.map((block) => (block.kind === 'note' ? htmlNote(block.text) : htmlEntity(block))).join('\n');
  return `<!doctype html>
<html lang="da">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body style="margin:0;padding:24px 16px;background:#f4f5f6;color:#1c2126;font:15px/1.5 -apple-system,Segoe UI,Roboto,Arial,sans-serif">
<div style="max-width:640px;margin:0 auto">
${body}
<p style="margin:24px 0 0;color:#66707a;font-size:13px">${escapeHtml(footer.text)}<br><a style="color:#66707a" href="${escapeHtml(footer.link)}">${escapeHtml(footer.linkText)}</a></p>
</div>
</body>
</html>
`;
}

const htmlNote = (text: string): string => `<p style="margin:0 0 16px">${lineBreaks(text)}</p>`;

function htmlEntity({ heading, about, link, events }: Extract<MailBlock, { kind: 'entity' }>): string {
  return `<div style="margin:0 0 16px;padding:16px 20px;background:#fff;border:1px solid #dfe3e6;border-radius:6px">
<h2 style="margin:0;font-size:18px"><a style="color:#0b5394;text-decoration:none" href="${escapeHtml(link)}">${escapeHtml(heading)}</a></h2>
<p style="margin:0 0 8px;color:#66707a;font-size:13px">${escapeHtml(about)}</p>
${runs(events).map(htmlRun).join('\n')}
</div>`;
}

function htmlRun(run: EventBlock | DescribedLine[]): string {
  if (Array.isArray(run)) return htmlTable(run, '');
  const { title, lines, more } = run;
  const rest = more > 0 ? `<tr><td colspan="2" style="color:#66707a">… og ${more} mere</td></tr>` : '';
  return `<h3 style="margin:12px 0 4px;font-size:15px">${escapeHtml(title)}</h3>\n${htmlTable(lines, rest)}`;
}

const htmlTable = (lines: readonly DescribedLine[], rest: string): string =>
  `<table role="presentation" cellspacing="0" cellpadding="0" style="font-size:15px">${lines.map(htmlLine).join('')}${rest}</table>`;

function htmlLine({ label, before, after, link }: DescribedLine): string {
  const old =
    before === null ? '' : `<span style="color:#8a929a;text-decoration:line-through">${lineBreaks(before)}</span>`;
  const text = after === null ? '' : lineBreaks(after);
  const now =
    link !== undefined && isWebAddress(link) ? `<a style="color:#0b5394" href="${escapeHtml(link)}">${text}</a>` : text;
  const value = [old, now].filter(Boolean).join(' → ');
  return `<tr><td style="padding:2px 16px 2px 0;color:#66707a;vertical-align:top;white-space:nowrap">${escapeHtml(label)}</td><td style="padding:2px 0;vertical-align:top">${value}</td></tr>`;
}

const lineBreaks = (text: string): string => escapeHtml(text).replaceAll(/\r\n?|\n/g, '<br>');
