/** Rules about one call with several records. */
import { propertiesMisfit } from '../../../contract-schemas.ts';
import { brief, insist, insistFits, insistList, insistSame, isProviderError } from '../lab/insist.ts';
import { type Lab, live, of } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { described } from '../lab/values.ts';

/** Enough records to show an order: few might be right by chance. */
const SEVERAL = 15;

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Records in an order other than creation, its reverse, and their ids. */
function shuffled({ ids, add }: Lab, most: number): readonly string[] {
  const all = ids.slice(0, most);
  while (all.length < Math.min(most, SEVERAL)) all.push(add(`Nr ${all.length}`));
  return [...all.filter((_, at) => at % 2 === 1).toReversed(), ...all.filter((_, at) => at % 2 === 0)];
}

const partsOf = <T>(all: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most));

export const BATCH_RULES: readonly ConformanceRule[] = [
  {
    name: 'tells-the-account',
    about: 'check says which account the credentials belong to',
    why: 'links belong to one account; with credentials of another, cvrsync would write into unrelated records',
    needs: ['check'],
    run: async ({ connection }) => {
      const account = await connection.check(live());
      insist(
        isText(account.id) && isText(account.name),
        `check gave ${brief(account)}: id and name are texts, not empty`,
      );
      insist(Array.isArray(account.notes), 'check gave no list of notes');
    },
  },
  {
    name: 'describes-properties',
    about:
      'properties lists each property once, with its type, whether it can be written, and only sensible lengths, scales and options',
    why: 'cvrsync checks the mapping against this list, and renders values by it',
    run: async ({ connection, subject }) => {
      const all = insistList(await connection.properties(live()), 'properties');
      insistFits(propertiesMisfit(all), 'properties');
      const byName = new Map(all.map((property) => [property.name, property]));
      for (const name of Object.values(subject.properties)) {
        const property = byName.get(name);
        insist(property !== undefined, `${name} is not listed`);
        insist(property.writable, `${name} is listed as not writable`);
        insist(property.label !== '', `${name} has no label`);
      }
      const { number, text } = subject.properties;
      insistSame(byName.get(number)?.type, 'number', `the type of ${number}`);
      insist(byName.get(text)?.type !== 'number', `${text} is listed as a number`);
    },
  },
  {
    name: 'read-only-properties',
    about: 'a property that the CRM sets by itself is listed as not writable',
    why: 'otherwise a mapping to it passes check, and the CRM refuses or silently drops every write of it',
    needs: ['readOnly'],
    run: async (lab) => {
      const { readOnly } = lab.subject;
      insist(
        readOnly !== undefined,
        'the subject must name a property in readOnly, or state that the CRM lacks readOnly',
      );
      const property = await described(lab, readOnly);
      insist(property !== undefined, `${readOnly} is not listed`);
      insist(!property.writable, `${readOnly} is listed as writable`);
    },
  },
  {
    name: 'empty-batch',
    about: 'an empty list is answered with an empty list, without a call',
    why: 'CRMs refuse empty batches, and a useless call delays a change',
    run: async ({ connection, calls, text }) => {
      const before = calls();
      insistSame(await connection.read([], [text], live()), [], 'read of no ids');
      insistSame(await connection.update([], live()), [], 'update of no patches');
      insistSame(calls() - before, 0, 'the calls for empty lists');
    },
  },
  {
    name: 'order-of-reads',
    about: 'read answers in the order asked, one for each id',
    why: "cvrsync would compare one company's values with another's, and overwrite them",
    run: async (lab) => {
      const asked = shuffled(lab, lab.limits.batch.read);
      const reads = await lab.read(asked);
      insistSame(
        reads.map((each) => each.id),
        asked,
        'ids in the order asked',
      );
      insist(
        reads.every(({ kind }) => kind === 'found'),
        `live records were read as ${brief(reads)}`,
      );
    },
  },
  {
    name: 'order-of-outcomes',
    about: 'update answers in the order of its patches, one for each',
    why: 'cvrsync would record a refusal for the wrong company, and count the refused one as written',
    run: async (lab) => {
      const asked = shuffled(lab, lab.limits.batch.update);
      const outcomes = await lab.write(asked, { [lab.text]: 'Ask' });
      insistSame(
        outcomes.map(({ kind, id }) => ({ kind, id })),
        asked.map((id) => ({ kind: 'written', id })),
        'outcomes in the order of the patches',
      );
    },
  },
  {
    name: 'leaves-arguments-alone',
    about: 'no verb changes the ids, names and patches that it is given',
    why: 'after a list is sorted or emptied in place, the answers no longer match the requested records',
    run: async (lab) => {
      const { connection, limits, text, subject } = lab;
      const { long } = subject.properties;
      const names = [text, long];
      const ids = [...shuffled(lab, Math.min(limits.batch.read, limits.batch.update))];
      const patches = ids.map((id) => ({ id, properties: { [text]: 'Ask', [long]: null } }));
      const before = structuredClone({ ids, names, patches });
      if (subject.lacks?.read === undefined) await connection.read(ids, names, live());
      await connection.update(patches, live());
      if (subject.lacks?.scan === undefined) await connection.scan(names, undefined, live());
      for (const [what, now] of Object.entries({ ids, names, patches }))
        insistSame(now, before[what as keyof typeof before], `the ${what} after the verbs`);
    },
  },
  {
    name: 'own-values',
    about: 'each record of a batch gets its own values and is read with them, and no other record changes',
    why: "one company's values would appear on another's record, where nobody looks for them",
    run: async (lab) => {
      const { add, connection, limits, held, text, read, subject } = lab;
      const pairs = Array.from({ length: Math.min(limits.batch.update, SEVERAL) }, (_, at) => ({
        id: add(`Nr ${at}`),
        bystander: add(`Beside ${at}`),
        value: `Own ${at}`,
      }));
      const asked = [...pairs.filter((_, at) => at % 2 === 1).toReversed(), ...pairs.filter((_, at) => at % 2 === 0)];
      const patches = asked.map(({ id, value }) => ({ id, properties: { [text]: value } }));
      await connection.update(patches, live());
      for (const [at, { id, bystander, value }] of pairs.entries()) {
        insistSame(held(id), value, 'the value of a record in the batch');
        insistSame(held(bystander), `Beside ${at}`, 'the value of a record outside the batch');
      }
      if (subject.lacks?.read !== undefined) return;
      for (const part of partsOf(asked, limits.batch.read)) {
        const reads = await read(part.map(({ id }) => id));
        for (const { id, value } of part) {
          const own = of(reads, id);
          insistSame(own?.kind === 'found' && own.properties[text], value, 'the value read from a record in the batch');
        }
      }
    },
  },
  {
    name: 'left-out-is-not-done',
    about: 'a record that the answer to an update leaves out is retry, or the whole answer is unavailable',
    why: 'as written, its change would be lost without a trace; as gone, its link would end',
    has: ({ limits }) => limits.batch.update > 1,
    run: async ({ ids, write, leaveOut, text }) => {
      const missing = ids[1] ?? '';
      const isLeftOut = leaveOut(missing);
      const outcomes = await write(ids, { [text]: 'Ny' }).catch((error: unknown) => {
        if (isProviderError(error) && error.fault === 'unavailable') return [];
        throw error;
      });
      // If each record has its own call, no answer leaves one out.
      if (!isLeftOut()) return;
      const kind = of(outcomes, missing)?.kind ?? 'retry';
      insistSame(kind, 'retry', 'the outcome of a record that the CRM left out of its answer');
    },
  },
  {
    name: 'full-batch',
    about: 'a batch as large as the limits allow is read and written completely',
    why: 'batches are full when there is much to do: a record that one leaves out stays outdated',
    run: async ({ limits, ids, add, read, write, held, text }) => {
      const most = Math.max(limits.batch.read, limits.batch.update);
      const all = [...ids];
      while (all.length < most) all.push(add(`Nr ${all.length}`));
      const reads = await read(all.slice(0, limits.batch.read));
      insistSame(
        reads.filter(({ kind }) => kind === 'found').length,
        limits.batch.read,
        'records found of a full batch',
      );
      const patched = all.slice(0, limits.batch.update);
      const outcomes = await write(patched, { [text]: 'Ask' });
      const written = patched.filter((id) => of(outcomes, id)?.kind === 'written' && held(id) === 'Ask');
      insistSame(written.length, limits.batch.update, 'records written of a full batch');
    },
  },
  {
    name: 'partial-failure',
    about: 'a refused value is named by its property, and the other records of the batch are written or call-refused',
    why: 'one bad e-mail address would block all changes in the same call',
    needs: ['reasons'],
    run: async (lab) => {
      const { bad, before, property, outcomes } = await writeOneBad(lab);
      const outcome = of(outcomes, bad);
      const answers =
        outcome?.kind === 'call-refused' ? await lab.connection.update([badPatch(lab, bad)], live()) : outcomes;
      const judged = of(answers, bad);
      insist(
        judged?.kind === 'rejected' && /\w/.test(judged.properties[property] ?? ''),
        `a bad ${property} should be rejected under its name, with a reason; it came back as ${brief(judged)}`,
      );
      insistSame(lab.held(bad ?? ''), before, 'the value of a rejected record');
      for (const id of lab.ids.filter((each) => each !== bad)) {
        const kind = of(outcomes, id)?.kind;
        if (kind === 'call-refused') continue;
        insist(kind === 'written', `a good record in the same batch came back as ${brief(of(outcomes, id))}`);
        insistSame(lab.held(id), 'Ny', 'the value of a good record in the same batch');
      }
    },
  },
  {
    name: 'refused-call',
    about: 'a call-refused record is unchanged, and is written by a call without the bad record',
    why: 'the runtime divides the call and sends it again: a record that was written anyway would be written twice',
    needs: ['reasons'],
    run: async (lab) => {
      const held = new Map(lab.ids.map((id) => [id, lab.held(id)]));
      const { bad, outcomes } = await writeOneBad(lab);
      const refused = lab.ids.filter((id) => id !== bad && of(outcomes, id)?.kind === 'call-refused');
      for (const id of refused) insistSame(lab.held(id), held.get(id), 'the value of a call-refused record');
      const again = refused.length === 0 ? [] : await lab.write(refused, { [lab.text]: 'Ny' });
      for (const id of refused)
        insist(
          of(again, id)?.kind === 'written',
          `sent again without the bad record, a record came back as ${brief(of(again, id))}`,
        );
    },
  },
];

/** Writes all records in one call, with a value that the CRM refuses in one of them. */
async function writeOneBad(lab: Lab) {
  const { ids, connection, held, text } = lab;
  const bad = ids.at(-2) ?? ids[0];
  const before = held(bad ?? '');
  const patches = ids.map((id) => (id === bad ? badPatch(lab, id) : { id, properties: { [text]: 'Ny' } }));
  const outcomes = await connection.update(patches, live());
  return { bad, before, property: refusedOf(lab).property, outcomes };
}

const badPatch = (lab: Lab, id = '') => {
  const { property, value } = refusedOf(lab);
  return { id, properties: { [lab.text]: 'Ny', [property]: value } };
};

function refusedOf({ subject: { refused } }: Lab) {
  insist(refused !== undefined, 'the subject must state a refused value, or that the CRM lacks reasons');
  return refused;
}
