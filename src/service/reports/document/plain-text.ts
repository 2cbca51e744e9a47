import { cutText } from '../../../protocol/text/cut.ts';

/** Longer texts are cut; the report has the whole. */
const MAX_LENGTH = 10_000;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Removes random line breaks, and HTML, which some programs write into texts. */
export function plainText(value: string): string {
  const text = /<\/?[a-z][^<>]*>/i.test(value) ? withoutMarkup(value) : value;
  const tidy = text
    .replace(/[ \t\u00A0]+/g, ' ')
    .replace(/ ?\r?\n\s*/g, '\n')
    .trim();
  return cutText(tidy, MAX_LENGTH);
}

const withoutMarkup = (html: string): string =>
  html
    .replace(/<\/?(?:p|br|div|li|tr|h\d)\b[^<>]*>/gi, '\n')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '');
