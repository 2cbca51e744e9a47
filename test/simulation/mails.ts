/** The mails contain the same as the webhooks: no change is missing, and none is mailed under two ids. */
import type { Updates } from '../../src/protocol/payload.ts';
import { composeChanges } from '../../src/service/mail/compose.ts';
import type { Letter } from './mail.ts';
import { changeIn } from './oracle.ts';
import type { Post } from './receiver.ts';

/** Events whose lines say nothing but the values before and after. */
const FOLLOWED: readonly string[] = ['name', 'phoneNumber', 'email', 'fax', 'website', 'purpose', 'status'];

export function wrongMails(letters: readonly Letter[], posts: readonly Post[]): readonly string[] {
  const wrong: string[] = [];
  const first = new Map<string, Letter>();
  for (const letter of letters) {
    const before = first.get(letter.id);
    if (before === undefined) first.set(letter.id, letter);
    else if (before.text !== letter.text) wrong.push(`the mail ${letter.id} came with two texts`);
  }
  const told = countsOf([...new Map(posts.map((post) => [post.id, post])).values()].flatMap(linesOf));
  const mailed = countsOf([...first.values()].flatMap(({ text }) => linesIn(text)));
  const labels = new Set([...told.keys()].map(labelOf));
  // Other events have lines with the same labels, and no value before.
  const extra = [...mailed.keys()].filter((each) => labels.has(labelOf(each)) && each.includes(' → '));
  for (const line of new Set([...told.keys(), ...extra])) {
    const [here, there] = [told.get(line) ?? 0, mailed.get(line) ?? 0];
    if (here !== there) wrong.push(`told ${here} times by webhook and ${there} times by mail: ${line}`);
  }
  return wrong;
}

const labelOf = (line: string): string => line.replace(/^\d+ /u, '').split(':')[0] ?? line;

/** The lines of a mail about nothing but a post. */
function linesOf({ entity, updates: all }: Post): readonly string[] {
  const isFollowed = (event: string): boolean => FOLLOWED.includes(event) && changeIn(all, event) !== undefined;
  const updates: Updates = Object.fromEntries(Object.entries(all).filter(([event]) => isFollowed(event)));
  if (Object.keys(updates).length === 0) return [];
  const frame = { monitorName: '', unsubscribeUrl: '', baseUrl: '' };
  return linesIn(composeChanges({ ...frame, changes: [{ entity, name: '', updates }], more: 0 }).text);
}

const FOOTER = '\n-- \n';

/** The lines with values, each after the number of its company. */
function linesIn(text: string): readonly string[] {
  let company = '';
  const lines = text.slice(0, text.lastIndexOf(FOOTER)).split('\n');
  return lines.flatMap((line) => {
    company = /\(CVR-nr\. (\d+)\)$/u.exec(line)?.[1] ?? company;
    return company !== '' && line.includes(': ') ? [`${company} ${line.trim()}`] : [];
  });
}

const countsOf = (lines: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
};
