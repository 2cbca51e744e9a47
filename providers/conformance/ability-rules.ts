/** Rules about what a connection may do beside its five verbs; each is tried only where the connection has the ability. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sighting } from '../provider.ts';
import { brief, faultOf, insist, insistSame } from './insist.ts';
import { type Lab, live } from './lab.ts';
import type { Rule } from './rule.ts';

const LOOK_MS = 40;

export const ABILITY_RULES: readonly Rule[] = [
  {
    name: 'finds',
    about: 'find gives the live records whose property equals a value, and says whether its index may lag',
    why: 'a duplicate is made where one that is there is not found, and a wrong company linked where one is found that is not',
    has: ({ connection }) => connection.find !== undefined,
    run: async ({ connection, ids, text, fake, patienceMs }) => {
      const find = (value: string) => connection.find?.(text, value, live());
      const [first = '', ...others] = ids;
      const [found] = await until(
        patienceMs,
        async () => (await find('Birk'))?.records ?? [],
        (records) => records.length > 0,
      );
      insistSame(found?.id, first, 'the record that find gave for Birk');
      insistSame((await find('Birk at no time'))?.records, [], 'the records that find gave for a name nobody has');
      insist(typeof (await find('Birk'))?.sure === 'boolean', 'find does not say whether it is sure');
      fake.remove(first);
      const left = await until(
        patienceMs,
        async () => (await find('Birk'))?.records ?? [],
        (records) => records.length === 0,
      );
      insistSame(left, [], 'what find gave for a deleted record');
      insist(
        others.every((id) => fake.get(id) !== undefined),
        'find deleted a record',
      );
    },
  },
  {
    name: 'creates',
    about: 'create makes one company with the properties given, and says its id',
    why: 'the id is all that links the company from then on',
    has: ({ connection }) => connection.create !== undefined,
    run: async ({ connection, subject, text, held }) => {
      const made = await connection.create?.({ ...subject.company, [text]: 'Ny ApS' }, live());
      insist(made?.kind === 'created' && made.id !== '', `create came back as ${brief(made)}`);
      insistSame(held(made.id), 'Ny ApS', 'what the CRM holds');
    },
  },
  {
    name: 'create-lost-answer',
    about: 'a create whose answer was lost is unavailable, after one call',
    why: 'tried again by the provider it makes the company twice; the runtime looks for it first',
    has: ({ connection, subject }) => connection.create !== undefined && subject.calls.create !== undefined,
    run: async ({ connection, subject, text, fake, calls }) => {
      fake.fault({ match: subject.calls.create ?? '', action: { kind: 'reset', applied: true } });
      const before = calls();
      const work = connection.create?.({ ...subject.company, [text]: 'Ny ApS' }, live()) ?? Promise.resolve();
      insistSame((await faultOf(work, 'a create without an answer')).fault, 'unavailable', 'its fault');
      insistSame(calls() - before, 1, 'calls it made');
    },
  },
  {
    name: 'changes',
    about: 'changes tells of records that are new, edited and deleted since a cursor; without one it begins now',
    why: 'without webhooks it is the only way in which a link learns that its record was deleted, merged or given a number',
    has: ({ connection }) => connection.changes !== undefined,
    run: async (lab) => {
      const { ids, add, fake, text } = lab;
      const begun = await look(lab, undefined);
      insist(typeof begun.cursor === 'string' && begun.cursor !== '', 'changes gave no cursor to begin with');
      await sleep(LOOK_MS);
      const fresh = add('Ny');
      fake.edit(ids.at(-1) ?? '', { [text]: 'Edited' });
      const wanted = [fresh, ids.at(-1) ?? ''];
      let { cursor } = begun;
      const seen = new Map<string, Sighting>();
      const end = Date.now() + lab.patienceMs;
      while (Date.now() < end && !wanted.every((id) => seen.has(id))) {
        const changes = await look(lab, cursor);
        cursor = changes.cursor;
        for (const sighting of changes.sightings) seen.set(sighting.id, sighting);
        if (!changes.more) await sleep(LOOK_MS);
      }
      for (const id of wanted) {
        const sighting = seen.get(id);
        insist(sighting?.kind === 'seen', `a new or edited record came as ${brief(sighting)}`);
        insistSame(sighting.properties[text], fake.get(id)?.[text], 'the property it was seen with');
      }
    },
  },
  {
    name: 'notes',
    about: 'a note is added to its record, and found again by its marker and by no other',
    why: 'where the answer was lost the marker decides whether the note stands there once, twice or not at all',
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
        'the note found by a strange marker',
      );
      if (other !== recordId)
        insistSame(await notes?.find(other, note.marker, since, live()), undefined, 'the note found on another record');
      if (fake.notes !== undefined) {
        const texts = fake.notes(recordId);
        insistSame(texts.length, 1, 'notes on the record');
        insist(/Vej 1/.test(texts[0] ?? ''), `the note says ${brief(texts[0])}`);
      }
      const gone = await notes?.add({ ...note, recordId: subject.absentId, marker: 'cvrsync:9999' }, live());
      insist(gone?.kind === 'gone' || gone?.kind === 'rejected', `a note on no record came back as ${brief(gone)}`);
    },
  },
  {
    name: 'parents',
    about: 'a parent is set, read, and ended; a record that is gone says so',
    why: 'a group in the CRM would show owners that were sold years ago',
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
        insistSame(outcome, { kind: 'written', id: child }, `the parent written as ${brief(now)}`);
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
    about: 'defineProperties makes what is not there, answers in order, and may be asked twice',
    why: 'a person runs it again after a lack of rights was mended half-way',
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
        'what became of them the second time',
      );
    },
  },
  {
    name: 'lists-rules',
    about: 'rules lists what may block a write, each with a name and what it is about',
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
];

async function look({ connection, text }: Lab, cursor: string | undefined) {
  const changes = await connection.changes?.([text], cursor, live());
  insist(changes !== undefined, 'changes gave nothing');
  return changes;
}

/** Asks again until it is as wished, or for so long that it never will be. */
async function until<T>(forMs: number, ask: () => Promise<T>, isWell: (value: T) => boolean): Promise<T> {
  const end = Date.now() + forMs;
  let value = await ask();
  while (Date.now() < end && !isWell(value)) {
    await sleep(LOOK_MS);
    value = await ask();
  }
  return value;
}
