/** A note's body: HubSpot shows it as HTML. */
import type { Note } from '../../provider.ts';
import { MAX_TEXT } from '../read/properties.ts';

const CUT = '…';

/** The subject in bold, the text, and the marker on a separate line; the text is cut if it is too long. */
export function noteHtml({ subject, text, marker }: Pick<Note, 'subject' | 'text' | 'marker'>): string {
  const head = `<strong>${escaped(subject.slice(0, MAX_TEXT / 16))}</strong><br>`;
  const foot = `<br><br>${escaped(marker)}`;
  return `${head}${fitting(text, MAX_TEXT - head.length - foot.length)}${foot}`;
}

/** Whether a body holds a marker, as it was sent or with its characters unescaped. */
export const holdsMarker = (html: string, marker: string): boolean =>
  html.includes(escaped(marker)) || html.includes(marker);

/** Escapes character by character, so that the cut never splits an entity. */
function fitting(text: string, room: number): string {
  const whole = toHtml(text);
  if (whole.length <= room) return whole;
  let html = '';
  for (const character of text) {
    const next = toHtml(character);
    if (html.length + next.length > room - CUT.length) break;
    html += next;
  }
  return html + CUT;
}

const toHtml = (text: string): string => escaped(text).replace(/\r?\n/g, '<br>');

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
