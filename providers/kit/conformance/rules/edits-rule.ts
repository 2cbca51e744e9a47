/** The rule about who changed what. */
import type { PropertyEdit } from '../../../provider.ts';
import { brief, insist, insistList, insistSame } from '../lab/insist.ts';
import { type Lab, live } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { patiently } from '../lab/until.ts';

const PERSON = 'Anna Holm';
/** Some CRMs store the time of an edit in whole seconds, and clocks differ. */
const MINUTE_MS = 60_000;

export const EDITS: ConformanceRule = {
  name: 'edits',
  about:
    'edits lists who changed the properties asked for, oldest first, and tells our own writes from those of others',
  why: 'cvrsync uses it to restore an edit that a write replaced; an edit taken for our own write stays lost',
  has: ({ connection }) => connection.edits !== undefined,
  run: async (lab) => {
    const { connection, ids, text, fake, subject } = lab;
    const [first = '', ...others] = ids;
    const since = Date.now() - MINUTE_MS;
    const read = async (from: number) => {
      const asked = [first, ...others.slice(0, 1), subject.absentId];
      const answer = await patiently(async () => connection.edits?.(asked, [text], from, live()));
      const edits = insistList(answer ?? [], 'edits');
      for (const edit of edits) insistEdit(edit, { asked, text });
      insistSame(
        edits.map(({ at }) => at),
        edits.map(({ at }) => at).toSorted((a, b) => a - b),
        'the times of the edits, oldest first',
      );
      return edits.filter(({ id }) => id === first);
    };
    await write(lab, first, 'Ours');
    fake.edit(first, { [text]: 'Theirs' }, PERSON);
    const theirs = await read(since);
    const last = theirs.at(-1);
    insist(last !== undefined, 'edits gave nothing for a record that a person changed');
    insist(!last.own, `a person's edit came back as our own: ${brief(last)}`);
    insist(last.value === undefined || last.value === 'Theirs', `the person's edit came back as ${brief(last)}`);
    if (last.value !== undefined) {
      const before = theirs.at(-2);
      insist(before?.value === 'Ours' && before.own, `the write before it came back as ${brief(before)}`);
    }
    await write(lab, first, 'Ours again');
    const own = (await read(since)).at(-1);
    insist(own?.own === true, `our own write after it came back as ${brief(own)}`);
    const later = Date.now() + MINUTE_MS;
    const standing = await read(later);
    insist(
      standing.length <= 1 && standing.every(({ at }) => at <= later),
      `edits since a future time gave more than the current value: ${brief(standing)}`,
    );
  },
};

function insistEdit(
  { id, property, at, by }: PropertyEdit,
  { asked, text }: { readonly asked: readonly string[]; readonly text: string },
): void {
  insist(
    asked.includes(id) && property === text,
    `edits gave ${brief(property)} of ${brief(id)}, which was not requested`,
  );
  insist(Number.isFinite(at), `an edit is at ${brief(at)}: a time is a number of ms since 1970`);
  insist(by !== '', 'an edit names no author');
}

async function write({ write: update, text }: Lab, id: string, value: string): Promise<void> {
  insistSame(
    (await update([id], { [text]: value })).map(({ kind }) => kind),
    ['written'],
    'the outcome of a write',
  );
}
