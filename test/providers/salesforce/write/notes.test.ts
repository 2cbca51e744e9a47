/** Notes are found again by their marker, belong to an existing account, and never count as written when they were not. */
import { describe, expect, it } from 'vitest';
import type { SalesforceEmulatorOptions } from '../../../../providers/kit/salesforce/org/org.ts';
import type { Note, Notes } from '../../../../providers/provider.ts';
import { callApi } from '../raw.ts';
import { type Bench, live, openBench, paths } from '../setup.ts';

const AT = Date.parse('2026-10-01T22:30:00Z');
const MARKER = 'cvrsync:4f1a9c';

async function openWith(noteAs: string, options: SalesforceEmulatorOptions = {}) {
  const bench = await openBench({ now: () => AT, ...options }, { noteAs });
  const { notes } = bench.connection;
  if (notes === undefined) throw new Error('the connection writes no notes');
  const id = bench.emulator.add({ Name: 'Birk ApS' });
  const note: Note = { recordId: id, at: AT, subject: 'Navn: A & B', text: 'før <A>\nefter "B"', marker: MARKER };
  return { bench, notes, id, note };
}
const find = (notes: Notes, id: string, marker = MARKER, since = AT) => notes.find(id, marker, since, live());
const ADDED: Readonly<Record<string, string>> = { Task: 'POST .*/sobjects/Task', ContentNote: 'POST .*/composite$' };

describe.each(['Task', 'ContentNote'])('a note as %s', (noteAs) => {
  const added = ADDED[noteAs] ?? '';

  it('stands on the account as plain text, and is found by its marker', async () => {
    const { bench, notes, id, note } = await openWith(noteAs);
    expect(await find(notes, id)).toBeUndefined();
    const outcome = await notes.add(note, live());
    const [text, ...more] = bench.emulator.notes(id);
    expect(text).toContain('Navn: A & B');
    expect(text).toContain('før <A>\nefter "B"');
    expect(more).toEqual([]);
    expect(await find(notes, id)).toBe(outcome.kind === 'written' ? outcome.id : 'not written');
    expect(await find(notes, id.slice(0, 15))).toBeDefined();
  });

  it('is not mistaken for another one: by marker, by account, by time', async () => {
    const { bench, notes, id, note } = await openWith(noteAs);
    await notes.add(note, live());
    expect(await find(notes, id, 'cvrsync:4f1a9')).toBeUndefined();
    expect(await find(notes, bench.emulator.add({ Name: 'Ege ApS' }))).toBeUndefined();
    expect(await find(notes, id, MARKER, AT + 2 * 3_600_000)).toBeUndefined();
  });

  it.each([-30, 30])('is found if the clock of this machine is %i minutes off', async (minutes) => {
    const { notes, id, note } = await openWith(noteAs);
    await notes.add(note, live());
    expect(await find(notes, id, MARKER, AT + minutes * 60_000)).toBeDefined();
  });

  it('is found among many, however they are paged', async () => {
    const { notes, id, note } = await openWith(noteAs, { pageSize: 70 });
    for (let at = 0; at < 65; at += 1) await notes.add({ ...note, marker: `other:${at}` }, live());
    await notes.add(note, live());
    expect(await find(notes, id)).toBeDefined();
  });

  it.each(['hang', 'reset', 'cut'] as const)('is found if the answer to its creation was lost (%s)', async (kind) => {
    const { bench, id, note } = await openWith(noteAs);
    const hasty = await bench.connect({}, (request) => bench.http({ ...request, timeoutMs: 2_000 }));
    bench.emulator.fault({ match: added, action: { kind, applied: true } });
    await expect(hasty.notes?.add(note, live())).rejects.toMatchObject({ fault: 'unavailable' });
    expect(await hasty.notes?.find(id, MARKER, AT, live())).toBeDefined();
    expect(bench.emulator.notes(id).length).toBe(1);
  });

  it('is not found if Salesforce could not answer its creation', async () => {
    const { bench, notes, id, note } = await openWith(noteAs);
    bench.emulator.fault({ match: added, action: { kind: 'status', status: 503 } });
    await expect(notes.add(note, live())).rejects.toMatchObject({ fault: 'unavailable' });
    expect(await find(notes, id)).toBeUndefined();
  });

  it('cannot be put on an account that is gone, merged away, or never was', async () => {
    const { bench, notes, id, note } = await openWith(noteAs);
    const other = bench.emulator.add({ Name: 'Ege ApS' });
    bench.emulator.merge(other, id);
    expect(await notes.add(note, live())).toEqual({ kind: 'gone' });
    expect(await notes.add({ ...note, recordId: 'no id' }, live())).toEqual({ kind: 'gone' });
    expect(await find(notes, 'no id')).toBeUndefined();
    bench.emulator.remove(other);
    expect(await notes.add({ ...note, recordId: other }, live())).toEqual({ kind: 'gone' });
    expect([...bench.emulator.notes(id), ...bench.emulator.notes(other)]).toEqual([]);
  });

  it('follows its account through a merge', async () => {
    const { bench, notes, id, note } = await openWith(noteAs);
    await notes.add(note, live());
    const survivor = bench.emulator.merge(bench.emulator.add({ Name: 'Ege ApS' }), id);
    expect(await find(notes, survivor)).toBeDefined();
  });

  it('is cut to the length that Salesforce accepts, and keeps its marker', async () => {
    const { notes, id, note } = await openWith(noteAs);
    const long = { ...note, subject: 'Æ'.repeat(400), text: '🦢'.repeat(20_000) };
    expect((await notes.add(long, live())).kind).toBe('written');
    expect(await find(notes, id)).toBeDefined();
  });

  it.each([
    ['INSUFFICIENT_ACCESS', /Edit Tasks/],
    ['INVALID_FIELD', /edit Subject, Description/],
    ['OPERATION_NOT_ALLOWED', /Edit Tasks/],
  ])('is refused as a whole, with advice, if the user lacks the right: %s', async (errorCode, message) => {
    const { bench, notes, note } = await openWith(noteAs);
    const body = [{ message: 'no', errorCode }];
    bench.emulator.fault({ match: added, action: { kind: 'status', status: 403, body } });
    await expect(notes.add(note, live())).rejects.toMatchObject({
      fault: 'refused',
      message: expect.stringMatching(message),
    });
  });

  it('is rejected alone if the account is not shared with the user for writing', async () => {
    const { bench, notes, note } = await openWith(noteAs);
    const body = [{ message: 'no', errorCode: 'INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY' }];
    bench.emulator.fault({ match: added, action: { kind: 'status', status: 400, body } });
    expect(await notes.add(note, live())).toMatchObject({
      kind: 'rejected',
      reason: expect.stringMatching(/access to the/),
    });
  });

  it.each<[string, number, string, string]>([
    ['rate', 403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.'],
    ['unavailable', 503, 'SERVER_UNAVAILABLE', 'down'],
  ])('leaves a fault of the whole org to the runtime: %s', async (fault, status, errorCode, message) => {
    const { bench, notes, note } = await openWith(noteAs);
    bench.emulator.fault({ match: added, action: { kind: 'status', status, body: [{ message, errorCode }] } });
    await expect(notes.add(note, live())).rejects.toMatchObject({ fault });
  });
});

const tasks = async ({ emulator }: Bench) =>
  (await (await callApi(emulator.url)).query('SELECT Status, ActivityDate FROM Task')).json.records;

describe('a task', () => {
  it('is done already, on the day it was in Denmark', async () => {
    const { bench, notes, note } = await openWith('Task');
    await notes.add(note, live());
    expect(await tasks(bench)).toMatchObject([{ Status: 'Completed', ActivityDate: '2026-10-02' }]);
  });

  it('uses the first closed status of an org that renamed them', async () => {
    const taskStatuses = [
      { label: 'Åben', closed: false },
      { label: 'Udført', closed: true },
    ];
    const { bench, notes, note } = await openWith('Task', { taskStatuses });
    await notes.add(note, live());
    expect(await tasks(bench)).toMatchObject([{ Status: 'Udført' }]);
  });

  it('is retried if the account is locked, and was not created', async () => {
    const { bench, notes, id, note } = await openWith('Task');
    bench.emulator.lockRow(id, 1);
    expect(await notes.add(note, live())).toMatchObject({ kind: 'retry', reason: expect.stringContaining('LOCK_ROW') });
    expect(bench.emulator.notes(id)).toEqual([]);
    expect((await notes.add(note, live())).kind).toBe('written');
  });
});

describe('a ContentNote', () => {
  it('is created and put on the account in one call, or not at all', async () => {
    const { bench, notes, id, note } = await openWith('ContentNote');
    await notes.add(note, live());
    expect(paths(bench.requests).filter((path) => path.startsWith('POST /services/data'))).toEqual([
      'POST /services/data/v67.0/composite',
    ]);
    bench.emulator.remove(id);
    await notes.add({ ...note, marker: 'cvrsync:other' }, live());
    bench.emulator.restore(id);
    expect(bench.emulator.notes(id).length).toBe(1);
  });

  it('is refused with advice if Notes are off', async () => {
    const { notes, note } = await openWith('ContentNote', { notesEnabled: false });
    await expect(notes.add(note, live())).rejects.toMatchObject({
      fault: 'refused',
      message: expect.stringMatching(/enable Notes.*noteAs: Task/),
    });
  });
});
