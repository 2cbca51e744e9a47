import { describe, expect, test } from 'vitest';
import type { FieldName } from '../../../providers/fields.ts';
import { extract } from '../../../src/connector/facts/extract.ts';
import { type Fact, fold } from '../../../src/connector/facts/fact.ts';
import { type Composed, composeNote, type FieldChange, type NoteRule } from '../../../src/connector/notes/compose.ts';
import { EVENT_NAMES, type EventName } from '../../../src/protocol/events.ts';
import { type Payload, payloadOf, type Updates } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';

const ENTITY = 'CVR-1-95012353';
const at = (hour: number): string => new Date(Date.UTC(2026, 2, 2, hour)).toISOString();
const event = (updates: Updates, hour = 8): Payload => payloadOf(ENTITY, at(hour), updates);
const rule = (events: readonly EventName[], persons = false): NoteRule => ({ events: new Set(events), persons });
const ALL = rule(EVENT_NAMES);

/** The notes of payloads about one company, in the order they came. */
function notesOf(payloads: readonly Payload[], under: NoteRule): readonly (Composed | undefined)[] {
  const facts = new Map<FieldName, Fact>();
  return payloads.map((payload, seq) => {
    const fieldChanges = new Map<FieldName, FieldChange>();
    for (const said of extract(payload)) {
      const before = facts.get(said.field);
      const folded = fold(before, payload.entityId, said, seq);
      facts.set(said.field, folded.fact);
      fieldChanges.set(said.field, { before, folded });
    }
    return composeNote({ seq, payload, fieldChanges }, under);
  });
}

const bodies = (payloads: readonly Payload[], under: NoteRule): readonly (string | undefined)[] =>
  notesOf(payloads, under).map((note) => note?.body);

const firm = { entityId: 'CVR-1-95023452', name: 'Luftkastel Holding ApS', type: 'Company' };
const person = { entityId: 'CVR-3-4999000001', name: 'Prøve Opdigtsen', type: 'Person' };
const other = { entityId: 'CVR-3-4999000002', name: 'Test Tænktsen', type: 'Person' };
const foreign = { entityId: 'CVR-3-4999000003', name: 'Luftschloss GmbH', type: 'Company' };
const status = event({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } });

describe('the text of a note', () => {
  test('has the time of registration, and the values before and after', () => {
    expect(notesOf([status], ALL)).toEqual([
      {
        marker: expect.stringMatching(/^cvrsync-[0-9a-f]{20}$/u),
        subject: 'CVR: Status',
        body: 'Registreret den 2. marts 2026 kl. 09.00.\n\nStatus: Normal → Under konkurs',
      },
    ]);
  });

  test('has the selected events under their titles', () => {
    const payload = event({
      phoneNumber: { before: '10111111', after: '10222222' },
      status: { before: 'NORMAL', after: 'UNDER KONKURS' },
      ownership: { added: [{ ...firm, ownership: '50-66.66' }], removed: [], changed: [] },
    });
    const [note] = notesOf([payload], rule(['status', 'ownership']));
    expect(note?.subject).toBe('CVR: Legale ejere og Status');
    expect(note?.body.split('\n').slice(2)).toEqual([
      'Legale ejere',
      'Ny: Luftkastel Holding ApS (50-66,66 %)',
      '',
      'Status: Normal → Under konkurs',
    ]);
    expect(notesOf([payload], rule(['email']))).toEqual([undefined]);
  });

  test('counts many events in the subject', () => {
    const [note] = notesOf(
      [
        event({
          name: { before: 'A ApS', after: 'B ApS' },
          email: { before: 'a@a.example', after: 'b@b.example' },
          phoneNumber: { before: '10111111', after: '10222222' },
          status: { before: 'NORMAL', after: 'OPLØST' },
        }),
      ],
      ALL,
    );
    expect(note?.subject).toBe('CVR: Navn, E-mail og 2 andre ændringer');
  });

  test('has the known previous value if the sender omits it', () => {
    const [, note] = notesOf([status, event({ status: { before: null, after: 'OPLØST' } }, 9)], ALL);
    expect(note?.body).toContain('Status: Under konkurs → Opløst');
    const owners = (share: string, hour: number) =>
      event({ ownership: { added: [], removed: [], changed: [{ ...firm, ownership: share }] } }, hour);
    expect(bodies([owners('20-25', 8), owners('33.34-50', 9)], ALL)[1]).toContain(
      'Luftkastel Holding ApS: 20-25 % → 33,34-50 %',
    );
  });

  test('is limited in length', () => {
    const [note] = notesOf([event({ purpose: { before: 'x'.repeat(9_000), after: '🏛'.repeat(9_000) } })], ALL);
    expect(note?.body).toHaveLength(10_000);
    expect(note?.body.isWellFormed()).toBe(true);
    const many = Array.from({ length: 60 }, (_, index) => `Navn ${index}`);
    const lines = notesOf([event({ altNames: { added: many, removed: [] } })], ALL)[0]?.body.split('\n');
    expect(lines?.at(-1)).toBe('… og 20 mere');
  });
});

describe('persons', () => {
  const changed = event({
    board: { added: [person, firm], removed: [other] },
    trueOwnership: {
      added: [{ ...person, ownership: '40' }],
      removed: [],
      changed: [
        { ...other, ownership: '30' },
        { ...foreign, ownership: '26' },
      ],
    },
  });

  test('are counted and not named', () => {
    const body = bodies([changed], ALL)[0] ?? '';
    expect(body.split('\n').slice(2)).toEqual([
      'Reelle ejerandele',
      'Luftschloss GmbH: 26 %',
      'Personer: 1 ny, 1 ændret',
      '',
      'Bestyrelse',
      'Tiltrådt: Luftkastel Holding ApS',
      'Personer: 1 tiltrådt, 1 fratrådt',
    ]);
    expect(body).not.toMatch(/Opdigtsen|Tænktsen|CVR-3/u);
  });

  test('are named if the connection allows it', () => {
    const body = bodies([changed], rule(EVENT_NAMES, true))[0];
    expect(body).toContain('Tiltrådt: Prøve Opdigtsen');
    expect(body).toContain('Fratrådt: Test Tænktsen');
  });

  test('are omitted from the c/o name of an address', () => {
    const home = samplePayload({ event: 'address', now: 0 }).updates.address?.after ?? null;
    const moved = (before: string | null, after: string | null) =>
      event({ address: { before: home && { ...home, coName: before }, after: home && { ...home, coName: after } } });
    expect(bodies([moved(null, 'Prøve Opdigtsen')], ALL)).toEqual([undefined]);
    expect(bodies([moved(null, 'Prøve Opdigtsen')], rule(EVENT_NAMES, true))[0]).toContain('c/o Prøve Opdigtsen');
  });

  test('include entities of unknown type, and get no notes themselves', () => {
    const nameless = event({ board: { added: [{ ...person, type: null }], removed: [] } });
    expect(bodies([nameless], ALL)[0]).not.toContain('Opdigtsen');
    const about = payloadOf(person.entityId, at(8), { name: { before: 'A', after: 'B' } });
    expect(notesOf([about], ALL)).toEqual([undefined]);
  });
});

describe('no note is made of', () => {
  test('a full state, for any selection of events', () => {
    const whole = samplePayload({ now: 0 });
    expect(notesOf([whole], rule(EVENT_NAMES, true))).toEqual([undefined]);
    // Not recognised for certain: something in it could not be read.
    const doubtful = { ...whole, malformed: [{ event: 'board', path: 'updates.board', message: 'is a text' }] };
    expect(notesOf([doubtful], rule(EVENT_NAMES, true))).toEqual([undefined]);
  });

  test('a known value that is stated without a previous one', () => {
    const phone = (hour: number) => event({ phoneNumber: { before: null, after: '10222222' } }, hour);
    const [first, second] = bodies([phone(8), phone(9)], ALL);
    expect(first).toContain('Telefon: 10222222');
    expect(second).toBeUndefined();
    const joined = (hour: number) => event({ board: { added: [firm], removed: [] } }, hour);
    expect(bodies([joined(8), joined(9)], ALL)[1]).toBeUndefined();
  });

  test('a change from a value to the same one, and one from nothing to nothing', () => {
    expect(bodies([event({ name: { before: 'A ApS', after: 'A ApS ' } })], ALL)).toEqual([undefined]);
    expect(bodies([event({ fax: { before: null, after: null } })], ALL)).toEqual([undefined]);
  });
});

describe('a note is made of a change', () => {
  test('that arrives late, after newer events', () => {
    const late = event({ status: { before: 'NORMAL', after: 'UNDER REKONSTRUKTION' } }, 7);
    const [, note] = notesOf([status, late], ALL);
    expect(note?.body).toContain('Registreret den 2. marts 2026 kl. 08.00.');
    expect(note?.body).toContain('Status: Normal → Under rekonstruktion');
  });

  test('in which an unknown member leaves', () => {
    expect(bodies([event({ board: { added: [], removed: [firm] } })], ALL)[0]).toContain('Fratrådt: Luftkastel');
  });

  test('with the same marker each time, independent of known facts', () => {
    const mixed = event({
      email: { before: null, after: 'b@b.example' },
      status: { before: 'NORMAL', after: 'UNDER KONKURS' },
    });
    const [first, second] = notesOf([mixed, mixed], ALL);
    expect(second?.marker).toBe(first?.marker);
    const [again] = notesOf([event({ ...mixed.updates }, 9)], ALL);
    expect(again?.marker).not.toBe(first?.marker);
  });
});
