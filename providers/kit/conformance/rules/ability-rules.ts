/** Rules about optional abilities; the suite tries each only if the connection has the ability. */

import type { MissingRight } from '../../../provider.ts';
import { brief, faultOf, insist, insistSame } from '../lab/insist.ts';
import { live } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { patiently, until } from '../lab/until.ts';
import { CHANGES } from './changes-rule.ts';
import { EDITS } from './edits-rule.ts';

/** A name with everything that may break a query, and a second name in it. */
const ODD = `Birk & L'Øl "100%" + #1`;

export const ABILITY_RULES: readonly ConformanceRule[] = [
  {
    name: 'finds',
    about: 'find gives the live records whose property equals a value, and says whether its index may lag',
    why: 'a missed record leads to a duplicate, and a false one links the wrong company',
    has: ({ connection }) => connection.find !== undefined,
    run: async ({ connection, ids, text, fake, patienceMs, subject }) => {
      const { number } = subject.properties;
      const [first = '', ...others] = ids;
      const find = (property: string, value: string) =>
        patiently(async () => connection.find?.(property, value, live()));
      /** The ids found; a lagging index has time to reach the count. */
      const found = async (property: string, value: string, count: number): Promise<readonly string[]> => {
        const look = async () => (await find(property, value))?.records ?? [];
        return (await until(patienceMs, look, ({ length }) => length === count)).map(({ id }) => id);
      };
      insistSame(await found(text, 'Birk', 1), [first], 'the records that find gave for Birk');
      insistSame(
        await found(text, 'Birk at no time', 0),
        [],
        'the records that find gave for a name that no record has',
      );
      insist(typeof (await find(text, 'Birk'))?.sure === 'boolean', 'find does not say whether it is sure');
      fake.edit(first, { [text]: ODD, [number]: 87_654_321 });
      const atOnce = await find(text, ODD);
      insist(
        atOnce?.sure !== true || atOnce.records.some(({ id }) => id === first),
        'find says that it is sure, and missed a record that was just written',
      );
      insistSame(await found(text, ODD, 1), [first], `the records that find gave for ${ODD}`);
      insistSame(await found(text, 'Birk', 0), [], `the records that find gave for Birk when a record is named ${ODD}`);
      insistSame(await found(number, '87654321', 1), [first], 'the records that find gave for the digits of a number');
      fake.remove(first);
      insistSame(await found(text, ODD, 0), [], 'the records that find gave for a deleted record');
      insist(
        others.every((id) => fake.get(id) !== undefined),
        'find deleted a record',
      );
    },
  },
  {
    name: 'finds-with-values',
    about: 'find gives every record that holds a value, with that value in the spelling of read',
    why: 'otherwise a loose match counts as a holder, and one of two companies with the same number stays unseen',
    has: ({ connection }) => connection.find !== undefined,
    run: async ({ connection, add, text, patienceMs }) => {
      const holders = [add('Twice'), add('Twice')].toSorted();
      const look = async () => (await patiently(async () => connection.find?.(text, 'Twice', live())))?.records ?? [];
      const records = await until(patienceMs, look, ({ length }) => length === holders.length);
      insistSame(
        records.map(({ id }) => id).toSorted(),
        holders,
        'the records that find gave for a name that two records have',
      );
      for (const { properties } of records) insistSame(properties[text], 'Twice', `${text} of a record that was found`);
    },
  },
  {
    name: 'creates',
    about: 'create makes one company with the given properties, and returns its id',
    why: 'only the id links the company from then on',
    has: ({ connection }) => connection.create !== undefined,
    run: async ({ connection, subject, text, held }) => {
      const made = await connection.create?.({ ...subject.company, [text]: 'Ny ApS' }, live());
      insist(made?.kind === 'created' && made.id !== '', `create came back as ${brief(made)}`);
      insistSame(held(made.id), 'Ny ApS', 'the value in the CRM');
    },
  },
  {
    name: 'create-lost-answer',
    about: 'a create whose answer was lost is unavailable, after one call',
    why: 'a retry by the provider would make the company twice; the runtime looks for it first',
    has: ({ connection, subject }) => connection.create !== undefined && subject.calls.create !== undefined,
    run: async ({ connection, subject, text, fake, calls }) => {
      fake.fault({ match: subject.calls.create ?? '', action: { kind: 'reset', applied: true } });
      const before = calls();
      const work = connection.create?.({ ...subject.company, [text]: 'Ny ApS' }, live()) ?? Promise.resolve();
      insistSame((await faultOf(work, 'a create without an answer')).fault, 'unavailable', 'its fault');
      insistSame(calls() - before, 1, 'the calls that it made');
    },
  },
  CHANGES,
  EDITS,
  {
    name: 'notes',
    about: 'a note is added to its record, and found by its own marker only',
    why: 'after a lost answer only the marker shows whether the record already has the note',
    has: ({ connection }) => connection.notes !== undefined,
    run: async ({ connection, ids, fake, subject }) => {
      const { notes } = connection;
      const [recordId = '', other = recordId] = ids;
      const at = Date.now();
      const note = { recordId, at, subject: 'Ny adresse', text: 'Vej 1 → <Vej> & 2\nlinje 2', marker: 'cvrsync:7f3a' };
      const outcome = await notes?.add(note, live());
      insist(outcome?.kind === 'written' && outcome.id !== '', `the note came back as ${brief(outcome)}`);
      const since = at - 60_000;
      insistSame(await notes?.find(recordId, note.marker, since, live()), outcome.id, 'the note found by its marker');
      insistSame(
        await notes?.find(recordId, 'cvrsync:0000', since, live()),
        undefined,
        'the note found by another marker',
      );
      if (other !== recordId)
        insistSame(await notes?.find(other, note.marker, since, live()), undefined, 'the note found on another record');
      if (fake.notes !== undefined) {
        const texts = fake.notes(recordId);
        insistSame(texts.length, 1, 'notes on the record');
        insist(/Vej 1/.test(texts[0] ?? ''), `the note says ${brief(texts[0])}`);
      }
      const gone = await notes?.add({ ...note, recordId: subject.absentId, marker: 'cvrsync:9999' }, live());
      insist(
        gone?.kind === 'gone' || gone?.kind === 'rejected',
        `a note on a record that does not exist came back as ${brief(gone)}`,
      );
    },
  },
  {
    name: 'parents',
    about: 'a parent is set, read and removed; the parent of a deleted record is gone',
    why: 'the CRM would show former owners as parents for years',
    has: ({ connection }) => connection.parents !== undefined,
    run: async ({ connection, ids, fake, add, limits }) => {
      const { parents } = connection;
      const [child = '', parent = add('Ege'), third = add('Lind')] = ids;
      const read = async (id: string) => (await parents?.read([id], live()))?.[0];
      insistSame(await read(child), { kind: 'found', id: child, parent: null }, 'a record without a parent');
      for (const [now, was] of [
        [parent, null],
        [third, parent],
        [null, third],
      ] as const) {
        const outcome = await parents?.write({ id: child, parent: now, was }, live());
        insistSame([outcome?.kind, outcome?.id], ['written', child], `the parent written as ${brief(now)}`);
        insistSame(await read(child), { kind: 'found', id: child, parent: now }, 'the parent, read again');
        if (fake.parent !== undefined) insistSame(fake.parent(child), now, 'the parent the CRM holds');
      }
      const asked = [third, parent].slice(0, limits.batch.read);
      insistSame(
        (await parents?.read(asked, live()))?.map(({ id }) => id),
        asked,
        'the order of parents read',
      );
      fake.remove(child);
      insistSame((await read(child))?.kind, 'gone', 'the parent of a deleted record');
    },
  },
  {
    name: 'defines-properties',
    about: 'defineProperties makes the missing properties, answers in order, and may be called twice',
    why: 'a person runs it again after granting a missing right',
    has: ({ connection }) => connection.defineProperties !== undefined,
    run: async ({ connection, subject }) => {
      const definitions = (subject.provider.definitions ?? []).slice(0, 3);
      const first = await connection.defineProperties?.(definitions, live());
      insistSame(
        first?.map(({ name }) => name),
        definitions.map(({ name }) => name),
        'the order of definitions',
      );
      const refused = first?.find(({ kind }) => kind === 'refused');
      insist(refused === undefined, `${refused?.name} was refused: ${refused?.reason}`);
      const again = await connection.defineProperties?.(definitions, live());
      insistSame(
        again?.map(({ kind }) => kind),
        definitions.map(() => 'exists'),
        'the results of the second call',
      );
    },
  },
  {
    name: 'removes-properties',
    about: 'removeProperties removes exactly the given properties, answers in order, and may be called twice',
    why: 'a person who stops using cvrsync would lose their own property, or keep those that cvrsync made',
    has: ({ connection }) => connection.defineProperties !== undefined && connection.removeProperties !== undefined,
    run: async ({ connection, subject }) => {
      const definitions = (subject.provider.definitions ?? []).slice(0, 3);
      await connection.defineProperties?.(definitions, live());
      const all = definitions.map(({ name }) => name);
      // The last one stays, if there are several.
      const names = all.slice(0, Math.max(1, all.length - 1));
      const listed = async () => new Set((await connection.properties(live())).map(({ name }) => name));
      const before = await listed();
      const kindsOf = async () =>
        (await connection.removeProperties?.(names, live()))?.map(({ name, kind }) => `${name} ${kind}`);
      insistSame(
        await kindsOf(),
        names.map((name) => `${name} removed`),
        'the results of the removal',
      );
      const after = await listed();
      const gone = [...before].filter((name) => !after.has(name));
      insistSame(
        gone.toSorted(),
        names.filter((name) => before.has(name)).toSorted(),
        'the properties that were removed',
      );
      insistSame(
        await kindsOf(),
        names.map((name) => `${name} absent`),
        'the results of the second call',
      );
    },
  },
  {
    name: 'lists-rules',
    about: 'rules lists the rules that may block a write, each with a name and a description',
    why: 'a person reads them before the first of 100,000 writes is refused',
    has: ({ connection }) => connection.rules !== undefined,
    run: async ({ connection }) => {
      const rules = (await connection.rules?.(live())) ?? [];
      for (const rule of rules)
        insist(
          rule.name !== '' && rule.about !== '' && ['required', 'validation', 'duplicate'].includes(rule.kind),
          `a rule is ${brief(rule)}`,
        );
    },
  },
  {
    name: 'missing-rights',
    about: 'missingRights names exactly the rights that the credentials lack, each with a reason',
    why: 'check would fail for a granted right, or pass although the CRM will refuse thousands of writes',
    has: ({ connection }) => connection.missingRights !== undefined,
    run: async ({ connection, fake }) => {
      const missing = async () => (await connection.missingRights?.(['read', 'update'], live())) ?? [];
      const named = (rights: readonly MissingRight[]) => rights.map(({ right }) => right);
      insistSame(named(await missing()), [], 'the rights that missingRights named when none was missing');
      if (fake.withhold === undefined) return;
      fake.withhold('update');
      const lacking = await missing();
      insistSame(named(lacking), ['update'], 'the rights that missingRights named when update was missing');
      insist(
        lacking.every(({ reason }) => reason !== ''),
        'missingRights gave no reason',
      );
    },
  },
];
