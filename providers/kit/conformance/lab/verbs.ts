import { type Lab, live } from './lab.ts';

export type Verb = readonly [name: string, work: () => Promise<unknown>];

/** The verbs of the connection other than read and update, for the rules on bad answers. */
export async function verbsBeside(lab: Lab): Promise<readonly Verb[]> {
  const { connection, subject, text, ids } = lab;
  const { changes, find, create, notes, parents } = connection;
  const [id = ''] = ids;
  const cursor = changes === undefined ? undefined : (await changes.call(connection, [text], undefined, live())).cursor;
  const note = { recordId: id, at: Date.now(), subject: 'Ny', text: 'Ny', marker: 'cvrsync:5e11' };
  const has = (name: string, isThere: boolean, work: () => Promise<unknown> | undefined): readonly Verb[] =>
    isThere ? [[name, async () => work()]] : [];
  return [
    ...has('check', subject.lacks?.check === undefined, () => connection.check(live())),
    ...has('properties', await asksForProperties(lab), () => connection.properties(live())),
    ...has('scan', subject.lacks?.scan === undefined, () => connection.scan([text], undefined, live())),
    ...has('changes', cursor !== undefined, () => connection.changes?.([text], cursor, live())),
    ...has('find', find !== undefined, () => connection.find?.(text, 'Birk', live())),
    ...has('notes.find', notes !== undefined, () => notes?.find(id, note.marker, note.at - 60_000, live())),
    ...has('parents.read', parents !== undefined, () => parents?.read([id], live())),
    ...has('create', create !== undefined, () => connection.create?.({ ...subject.company, [text]: 'Ny' }, live())),
    ...has('notes.add', notes !== undefined, () => notes?.add(note, live())),
  ];
}

/** Whether `properties` makes a call: a provider may know or remember the properties. */
async function asksForProperties({ connection, calls }: Lab): Promise<boolean> {
  const before = calls();
  await connection.properties(live());
  return calls() > before;
}
