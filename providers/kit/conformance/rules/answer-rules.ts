/** Rules about bad answers to verbs other than read and update: the runtime would believe what a provider invents. */
import type { FaultAction } from '../../emulator/emulator.ts';
import { brief, faultOf, insist, insistSame } from '../lab/insist.ts';
import { live } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { patiently, until } from '../lab/until.ts';
import { verbsBeside } from '../lab/verbs.ts';

const HTML = { 'content-type': 'text/html' };
const BAD: readonly (readonly [what: string, action: FaultAction])[] = [
  ['a 500', { kind: 'status', status: 500, body: { message: 'x' } }],
  ['a 502', { kind: 'status', status: 502, body: '<html>Bad gateway</html>', headers: HTML }],
  ['a 200 in HTML', { kind: 'status', status: 200, body: '<html>Maintenance</html>', headers: HTML }],
];
const NOTHING = ['a 200 without results', { kind: 'status', status: 200, body: {} }] as const;

const CHECKED: readonly string[] = ['check', 'properties'];

export const ANSWER_RULES: readonly ConformanceRule[] = [
  {
    name: 'nothing-made-up',
    about:
      'check, properties, scan, find, changes, create, notes and parents throw if the CRM answers badly, as read and update do',
    why: 'an empty list instead of an answer would end a backfill early, and make companies and notes twice',
    run: async (lab) => {
      const { answers } = lab.subject.lacks ?? {};
      // The runtime refuses anything but an account and a list of properties.
      for (const [name, work] of await verbsBeside(lab))
        for (const [what, action] of answers === undefined && !CHECKED.includes(name) ? [...BAD, NOTHING] : BAD) {
          lab.fake.fault({ match: '.', action });
          const { fault } = await faultOf(patiently(work), `${what} to ${name}`);
          insistSame(fault, 'unavailable', `the fault of ${what} to ${name}`);
        }
    },
  },
  {
    name: 'create-names-what-it-refuses',
    about: 'a create with a value that the CRM refuses is rejected under its property, and makes no company',
    why: 'the runtime makes the company without the value; an exception would stop the whole account for five minutes',
    needs: ['reasons'],
    has: ({ connection }) => connection.create !== undefined,
    run: async ({ connection, subject, text, ids, scan }) => {
      const { refused, company, lacks } = subject;
      insist(refused !== undefined, 'the subject must state a refused value, or that the CRM lacks reasons');
      const properties = { ...company, [text]: 'Ny ApS', [refused.property]: refused.value };
      const made = await connection.create?.(properties, live());
      insist(
        made?.kind === 'rejected' && /\w/.test(made.properties[refused.property] ?? ''),
        `a create with a bad ${refused.property} should be rejected under its name, with a reason; it came back as ${brief(made)}`,
      );
      if (lacks?.scan === undefined) insistSame((await scan()).length, ids.length, 'records afterwards');
    },
  },
  {
    name: 'note-lost-answer',
    about: 'a note whose answer was lost is unavailable, exists once, and is found among many by its marker',
    why: 'a retry by the provider, or a note that find misses, would give the record the note twice',
    has: ({ connection }) => connection.notes !== undefined,
    run: async ({ connection, ids, fake, patienceMs }) => {
      const { notes } = connection;
      const [recordId = ''] = ids;
      const at = Date.now();
      const note = { recordId, at, subject: 'Ny adresse', text: 'Vej 1', marker: 'cvrsync:10c4' };
      fake.fault({ match: '.', action: { kind: 'reset', applied: true } });
      const work = notes?.add(note, live()) ?? Promise.resolve();
      insistSame((await faultOf(work, 'a note without an answer')).fault, 'unavailable', 'its fault');
      const count = () => (fake.notes?.(recordId) ?? []).length;
      insist(count() < 2, `the record has the note ${count()} times`);
      // A provider that searches before it adds may have lost the answer to its search.
      if (count() === 0) await patiently(async () => notes?.add(note, live()));
      for (let i = 0; i < MANY; i += 1) {
        const other = { ...note, at: at + i, marker: `cvrsync:${1_000 + i}` };
        const left = await patiently(async () => notes?.add(other, live()));
        insist(left?.kind === 'written', `a note came back as ${brief(left)}`);
      }
      for (const [which, marker] of [
        ['first', note.marker],
        ['last', `cvrsync:${1_000 + MANY - 1}`],
      ] as const) {
        const find = () => patiently(async () => notes?.find(recordId, marker, at - 60_000, live()));
        const found = await until(patienceMs, find, (id) => id !== undefined);
        insist(found !== undefined, `the ${which} of ${MANY + 1} notes was not found by its marker`);
      }
    },
  },
];

/** More than a page of notes in most CRMs. */
const MANY = 110;
