import { describe, expect, it } from 'vitest';
import { holdsMarker, noteHtml } from '../../../../providers/hubspot/write/note-html.ts';
import type { Note, NoteOutcome } from '../../../../providers/provider.ts';
import { type Bench, faultFrom, live, openBench } from '../setup.ts';

const NOW = Date.parse('2026-06-10T12:00:00Z');
const noteOn = (recordId: string, rest: Partial<Note> = {}): Note => ({
  recordId,
  at: NOW,
  subject: 'Nyt navn',
  text: 'Navn: A ApS → B & C ApS\nBy: Sorø',
  marker: 'cvrsync:event-1',
  ...rest,
});

async function add({ connection }: Bench, note: Note): Promise<NoteOutcome> {
  if (connection.notes === undefined) throw new Error('the connection has no notes');
  return connection.notes.add(note, live());
}
async function find({ connection }: Bench, recordId: string, marker = 'cvrsync:event-1'): Promise<string | undefined> {
  if (connection.notes === undefined) throw new Error('the connection has no notes');
  return connection.notes.find(recordId, marker, NOW, live());
}

const COMPANIES_ONLY = ['crm.objects.companies.read', 'crm.objects.companies.write'];
const POST_NOTE = 'POST .*/objects/2026-09/notes$';

describe('a note', () => {
  it.each(['2026-09', 'v3'])('is left on the company and found by its marker, in version %s', async (apiVersion) => {
    const bench = await openBench({ searchLagMs: 3_600_000 }, { apiVersion });
    const [id, other] = [bench.emulator.add({ name: 'A' }), bench.emulator.add({ name: 'B' })];
    expect(await find(bench, id)).toBeUndefined();
    const outcome = await add(bench, noteOn(id));
    expect(outcome).toMatchObject({ kind: 'written', id: expect.stringMatching(/^\d+$/) });
    expect(bench.emulator.notes(id)).toEqual(['Nyt navn\nNavn: A ApS → B & C ApS\nBy: Sorø\n\ncvrsync:event-1']);
    expect(bench.emulator.notes(other)).toEqual([]);
    expect(await find(bench, id)).toBe(outcome.kind === 'written' ? outcome.id : '');
    expect(await find(bench, id, 'cvrsync:event-2')).toBeUndefined();
    expect(await find(bench, other)).toBeUndefined();
  });

  it('is found if the answer to its creation was lost, and was created once', async () => {
    for (const kind of ['reset', 'cut'] as const) {
      const bench = await openBench();
      const id = bench.emulator.add({ name: 'A' });
      bench.emulator.fault({ match: POST_NOTE, action: { kind, applied: true } });
      expect((await faultFrom(add(bench, noteOn(id)))).fault).toBe('unavailable');
      expect(bench.calls().filter((call) => call.startsWith('POST') && call.endsWith('/notes'))).toHaveLength(1);
      expect(await find(bench, id)).toMatch(/^\d+$/);
      expect(bench.emulator.notes(id)).toHaveLength(1);
    }
  });

  it('is found among more than one page of them, whatever their order', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A' });
    await add(bench, noteOn(id, { marker: 'cvrsync:first' }));
    for (let i = 0; i < 620; i += 1) await add(bench, noteOn(id, { marker: `cvrsync:other-${i}.` }));
    bench.calls();
    expect(await find(bench, id, 'cvrsync:first')).toMatch(/^\d+$/);
    expect(bench.calls().filter((call) => call.endsWith('/associations/notes'))).toHaveLength(2);
    expect(await find(bench, id, 'cvrsync:other-619.')).toMatch(/^\d+$/);
    // The newest are read first.
    expect(bench.calls().filter((call) => call.endsWith('/notes/batch/read'))).toHaveLength(1);
  });

  it('follows a merge, and the end of its company is reported', async () => {
    const bench = await openBench();
    const [a, b, c] = [
      bench.emulator.add({ name: 'A' }),
      bench.emulator.add({ name: 'B' }),
      bench.emulator.add({ name: 'C' }),
    ];
    const early = await add(bench, noteOn(a, { marker: 'cvrsync:early' }));
    const survivor = bench.emulator.merge(b, a);
    expect(await find(bench, a, 'cvrsync:early')).toBe(early.kind === 'written' ? early.id : '');
    expect(await add(bench, noteOn(a, { marker: 'cvrsync:late' }))).toMatchObject({ kind: 'written' });
    expect(bench.emulator.notes(survivor)).toHaveLength(2);
    bench.emulator.remove(c);
    expect(await add(bench, noteOn(c))).toEqual({ kind: 'gone' });
    expect(await find(bench, c)).toBeUndefined();
    expect(await add(bench, noteOn('../1'))).toEqual({ kind: 'gone' });
    expect(await find(bench, '../1')).toBeUndefined();
  });

  it('is refused with the missing scope, while companies are written as before', async () => {
    const bench = await openBench({ scopes: COMPANIES_ONLY });
    const id = bench.emulator.add({ name: 'A' });
    const { fault, message } = await faultFrom(add(bench, noteOn(id)));
    expect([fault, message]).toEqual(['refused', expect.stringContaining('crm.objects.contacts.write')]);
    expect(await bench.connection.update([{ id, properties: { name: 'B' } }], live())).toMatchObject([
      { kind: 'written', id },
    ]);
  });

  it('is searched with a scope of its own', async () => {
    const bench = await openBench({ scopes: [...COMPANIES_ONLY, 'crm.objects.contacts.write'] });
    const id = bench.emulator.add({ name: 'A' });
    expect(await add(bench, noteOn(id))).toMatchObject({ kind: 'written' });
    const { fault, message } = await faultFrom(find(bench, id));
    expect([fault, message]).toEqual(['refused', expect.stringContaining('crm.objects.contacts.read')]);
  });

  it('names the scope if HubSpot does not', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A' });
    bench.emulator.fault({ match: POST_NOTE, action: { kind: 'status', status: 403, body: { message: 'no' } } });
    expect((await faultFrom(add(bench, noteOn(id)))).message).toContain('crm.objects.contacts.write');
  });

  it('is rejected with HubSpot’s reason if the company exists and the note is refused', async () => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A' });
    const body = { category: 'VALIDATION_ERROR', message: 'the portal says no' };
    bench.emulator.fault({ match: POST_NOTE, action: { kind: 'status', status: 400, body } });
    expect(await add(bench, noteOn(id))).toEqual({ kind: 'rejected', reason: 'the portal says no' });
  });

  it.each([
    [429, 'rate'],
    [503, 'unavailable'],
    [401, 'auth'],
    [423, 'locked'],
  ] as const)('ends with a fault at %d, and is sent once', async (status, fault) => {
    const bench = await openBench();
    const id = bench.emulator.add({ name: 'A' });
    bench.emulator.fault({ match: POST_NOTE, action: { kind: 'status', status } });
    const before = bench.http.requests.length;
    expect((await faultFrom(add(bench, noteOn(id)))).fault).toBe(fault);
    expect(bench.http.requests.length - before).toBe(1);
    expect(bench.emulator.notes(id)).toEqual([]);
  });
});

describe('the body of a note', () => {
  it('shows what people and the register wrote as text, never as HTML', () => {
    const html = noteHtml({
      subject: '<b>A & B</b>',
      text: '<img src=x onerror="a()">\r\n"C" ’ \'D\'',
      marker: 'm<1>',
    });
    expect(html).toBe(
      '<strong>&lt;b&gt;A &amp; B&lt;/b&gt;</strong><br>&lt;img src=x onerror=&quot;a()&quot;&gt;<br>&quot;C&quot; ’ &#39;D&#39;<br><br>m&lt;1&gt;',
    );
    expect(holdsMarker(html, 'm<1>')).toBe(true);
    expect(holdsMarker(html.replaceAll('&lt;', '<').replaceAll('&gt;', '>'), 'm<1>')).toBe(true);
    expect(holdsMarker(html, 'm<2>')).toBe(false);
  });

  it.each(['x', '&', '🍓', 'æ\n'])(
    'is cut to HubSpot’s length if %j is repeated too often, and keeps the marker',
    (part) => {
      const html = noteHtml({ subject: 'S'.repeat(10_000), text: part.repeat(70_000), marker: 'cvrsync:1' });
      expect(html.length).toBeLessThanOrEqual(65_536);
      expect(html.length).toBeGreaterThan(65_400);
      expect(html).toMatch(/…<br><br>cvrsync:1$/);
      expect(html.isWellFormed()).toBe(true);
      expect(html.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
    },
  );
});
