/** Rules about values that are written and read back. */
import type { PropertyValue } from '../../../provider.ts';
import { brief, insist, insistSame } from '../lab/insist.ts';
import { type Lab, live, of } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { described, roundTrip, valuesOf } from '../lab/values.ts';

/** Whether the CRM refuses the value by the property's name: it need not store what it refuses. */
async function refuses(lab: Lab, name: string, value: PropertyValue): Promise<boolean> {
  const [id = ''] = lab.ids;
  const outcome = of(await lab.write([id], { [name]: value }), id);
  return outcome?.kind === 'rejected' && Object.hasOwn(outcome.properties, name);
}

const BLANKS = '  two  blanks \n\n';
const TIME = '2024-02-29T13:45:30.000Z';

/** Writes a time, and insists that the CRM stores and returns it, in any time zone. */
async function keepsTime(lab: Lab, name: string): Promise<void> {
  const [id = ''] = lab.ids;
  const outcome = of(await lab.write([id], { [name]: TIME }), id);
  insist(outcome?.kind === 'written', `a time came back as ${brief(outcome)}`);
  const isKept = (value: PropertyValue | undefined) =>
    typeof value === 'string' && Date.parse(value) === Date.parse(TIME);
  const held = lab.held(id, name);
  insist(isKept(held), `the value of ${name} in the CRM is ${brief(held)}, not ${TIME}`);
  if (lab.subject.lacks?.read !== undefined) return;
  const back = (await valuesOf(lab, id, [name]))[name];
  insist(isKept(back), `${name}, read again, is ${brief(back)}, not ${TIME}`);
}

export const VALUE_RULES: readonly ConformanceRule[] = [
  {
    name: 'tells-what-stands',
    about:
      'the values that an update states from before and after the write equal those of a read, of properties of the patch only',
    why: "cvrsync would overwrite a person's value as its own, or restore a value that nobody wrote",
    needs: ['read'],
    run: async (lab) => {
      const { ids, connection, fake, text } = lab;
      const [first = '', second = first] = ids;
      const asked = [...new Set([second, first])];
      const before = new Map(asked.map((id, at) => [id, `Edited ${at}`]));
      for (const [id, value] of before) fake.edit(id, { [text]: value });
      const patches = asked.map((id, at) => ({ id, properties: { [text]: `Ny ${at} ` } }));
      for (const outcome of await connection.update(patches, live())) {
        if (outcome.kind !== 'written') continue;
        const now = await valuesOf(lab, outcome.id, [text]);
        const then = { [text]: before.get(outcome.id) ?? null };
        for (const [what, stated, known] of [
          ['stored', outcome.stored, now],
          ['replaced', outcome.replaced, then],
        ] as const)
          if (stated !== undefined) insistSame(stated, known, `what an update stated as ${what}`);
      }
    },
  },
  {
    name: 'reads-what-is-asked',
    about: 'read gives exactly the requested properties, and blanks as null',
    why: 'a blank that is not null looks like something a person wrote, and is never filled',
    needs: ['read'],
    run: async (lab) => {
      const { long, text } = lab.subject.properties;
      const [id = ''] = lab.ids;
      const properties = await valuesOf(lab, id, [text, long]);
      insistSame(Object.keys(properties).sort(), [text, long].sort(), 'the properties read');
      insistSame(properties[long], null, `the blank ${long}`);
    },
  },
  {
    name: 'unicode-and-long-text',
    about:
      'a text is written and read back unchanged: Danish letters, emoji, quotes, backslashes, line breaks, 2,000 characters',
    why: 'a name that comes back altered differs from what cvrsync wrote, and looks like an edit of a person',
    run: async (lab) => {
      const { long, text } = lab.subject.properties;
      await roundTrip(lab, { [text]: 'Smørrebrød & Æblegård ApS 🦢', [long]: `${'Å'.repeat(1_990)}\n"q" \\` });
    },
  },
  {
    name: 'keeps-blanks',
    about:
      'a text is written and read back with its blanks as the CRM stores them: at its edges, doubled, and lines at its end',
    why: 'a trimmed text is not what a person wrote, and an undo or a restored edit would change it',
    run: async (lab) => {
      const { long } = lab.subject.properties;
      const [id = ''] = lab.ids;
      lab.fake.edit(id, { [long]: BLANKS });
      const typed = lab.held(id, long);
      const isRead = lab.subject.lacks?.read === undefined;
      if (isRead) insistSame((await valuesOf(lab, id, [long]))[long], typed, `${long} as a person typed it, read`);
      lab.fake.edit(id, { [long]: null });
      const outcome = of(await lab.write([id], { [long]: BLANKS }), id);
      insist(outcome?.kind === 'written', `it came back as ${brief(outcome)}`);
      insistSame(
        lab.held(id, long),
        typed,
        `the value of ${long} in the CRM, compared with the same text typed by a person`,
      );
    },
  },
  {
    name: 'numbers',
    about: 'a number is written and read back as a number, also zero, a loss, a decimal or a large one, or is refused',
    why: 'a number that comes back as a text never equals ours, and is written again with every change',
    run: async (lab) => {
      const { number } = lab.subject.properties;
      await roundTrip(lab, { [number]: 1234 });
      await roundTrip(lab, { [number]: 0 });
      const { scale } = (await described(lab, number)) ?? {};
      for (const value of [-1_234, 3_000_000_000, ...(scale === 0 ? [] : [-1_234.5])])
        if (!(await refuses(lab, number, value))) await roundTrip(lab, { [number]: value });
    },
  },
  {
    name: 'choices-dates-and-flags',
    about:
      'an option is written and read back by its value, a date as YYYY-MM-DD, a time with its time of day, a flag as true or false',
    why: 'an option that comes back as its label, or a date as a number, never equals ours: it counts as an edit of a person',
    has: ({ subject: { properties } }) =>
      [properties.choice, properties.date, properties.datetime, properties.boolean].some((name) => name !== undefined),
    run: async (lab) => {
      const { choice, date, datetime, boolean } = lab.subject.properties;
      if (date !== undefined) await roundTrip(lab, { [date]: '2024-02-29' });
      if (datetime !== undefined) await keepsTime(lab, datetime);
      if (boolean !== undefined) for (const flag of [true, false]) await roundTrip(lab, { [boolean]: flag });
      if (choice === undefined) return;
      const { options = [] } = (await described(lab, choice)) ?? {};
      insist(options.length > 1, `${choice} is listed with ${options.length} options: a choice needs two`);
      for (const { value } of options.slice(0, 2)) await roundTrip(lab, { [choice]: value });
    },
  },
  {
    name: 'clears-with-null',
    about: 'null clears a property of any type: a text, a number, a date or a time',
    why: 'people would keep calling a phone number that a company gave up',
    run: async (lab) => {
      const { long, number, date, datetime } = lab.subject.properties;
      const [id = ''] = lab.ids;
      const values = [
        [long, 'gone soon'],
        [number, 1234],
        [date, '2024-02-29'],
        [datetime, TIME],
      ] as const;
      for (const [name, value] of values) {
        if (name === undefined) continue;
        await lab.write([id], { [name]: value });
        const outcome = of(await lab.write([id], { [name]: null }), id);
        insist(outcome?.kind === 'written', `clearing ${name} came back as ${brief(outcome)}`);
        insistSame(lab.held(id, name) ?? null, null, `the value of ${name} in the CRM`);
      }
    },
  },
  {
    name: 'leaves-absent-alone',
    about: 'an update does not change a property that is not in the patch',
    why: 'every change of the register would erase what sales people wrote in other fields',
    run: async (lab) => {
      const { long, text, number } = lab.subject.properties;
      const [id = ''] = lab.ids;
      lab.fake.edit(id, { [long]: 'written by a person', [number]: 17 });
      // One by one: a CRM that nests some fields may replace the nest as a whole.
      for (const [name, value] of Object.entries({ [text]: 'Ny', [number]: 18, [long]: 'Ny tekst' })) {
        // A fake may return its own objects: copy them.
        const before = { ...lab.fake.get(id) };
        await lab.write([id], { [name]: value });
        for (const other of [text, long, number].filter((one) => one !== name))
          insistSame(lab.held(id, other), before[other], `the value of ${other} in the CRM after a write of ${name}`);
      }
    },
  },
];
