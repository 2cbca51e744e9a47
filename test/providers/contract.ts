/**
 * What every connection must do, whatever the CRM: one suite, run against each CRM's emulator.
 *
 * `setup` opens a fresh emulator and a connection to it; each test closes them again.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CrmEmulator, FaultAction } from '../../providers/emulator.ts';
import { type Connection, type PropertyValue, ProviderError } from '../../providers/provider.ts';
import { type CountedHttp, openHttp } from '../support/http.ts';

/** What the suite must know about one CRM. */
export interface Subject {
  readonly emulator: CrmEmulator;
  readonly connection: Connection;
  /** Texts that no error may show. */
  readonly secrets: readonly string[];
  /** Writable properties by kind; `text` takes 60 characters at least, `long` 2,000. */
  readonly properties: { readonly text: string; readonly long: string; readonly number: string };
  /** The least a company must have to exist. */
  readonly company: Readonly<Record<string, PropertyValue>>;
  /** A value the CRM refuses, in a property of its own. */
  readonly refused: { readonly property: string; readonly value: PropertyValue };
  /** Patterns on `METHOD /path` for the calls that read and write a batch. */
  readonly calls: { readonly read: string; readonly update: string };
  /** The CRM's own answers to a bad token and to too many calls; the last with `Retry-After: 7`. */
  readonly answers: {
    readonly unauthorized: FaultAction;
    readonly rate: FaultAction;
    readonly rateWithRetryAfter: FaultAction;
  };
}

/** Opens an emulator and a connection that reaches it through the Http given. */
export type Setup = (http: CountedHttp) => Promise<Subject>;

/** An id no record of the emulator has, shaped as the CRM shapes them. */
export type AbsentId = string;

const DEADLINE_MS = 400;
const live = () => new AbortController().signal;

/** Declares the suite for one CRM. */
export function describeContract(name: string, setup: Setup, absentId: AbsentId): void {
  describe(`${name} keeps the contract of a connection`, () => {
    let http: CountedHttp;
    let subject: Subject;
    let ids: string[];

    beforeEach(async () => {
      http = openHttp(DEADLINE_MS);
      subject = await setup(http);
      ids = ['Birk', 'Ege', 'Lind', 'Pil'].map((text) =>
        subject.emulator.add({ ...subject.company, [subject.properties.text]: text }),
      );
      await subject.connection.properties(live());
    });
    afterEach(async () => {
      await subject.emulator.close();
      await http.close();
    });

    const text = () => subject.properties.text;
    const held = (id: string | undefined, property = text()) => subject.emulator.get(id ?? '')?.[property];
    const read = (asked: readonly string[]) => subject.connection.read(asked, [text()], live());
    const write = (properties: Record<string, PropertyValue>, asked: readonly string[] = ids) =>
      subject.connection.update(
        asked.map((id) => ({ id, properties })),
        live(),
      );
    const fault = (call: 'read' | 'update', action: FaultAction, times = 1) =>
      subject.emulator.fault({ match: subject.calls[call], action, times });
    const failure = async (work: Promise<unknown>): Promise<ProviderError> => {
      const error = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
      return error;
    };

    it('tells who the credentials are', async () => {
      const account = await subject.connection.check(live());
      expect(account.id).not.toBe('');
      expect(account.name).not.toBe('');
    });

    it('makes no call for an empty list', async () => {
      const before = http.requests.length;
      expect(await read([])).toEqual([]);
      expect(await subject.connection.update([], live())).toEqual([]);
      expect(http.requests.length).toBe(before);
    });

    it('answers reads and updates in the order asked', async () => {
      const backwards = [...ids].reverse();
      expect((await read(backwards)).map((r) => [r.kind, r.id])).toEqual(backwards.map((id) => ['found', id]));
      expect(await write({ [text()]: 'Ask' }, backwards)).toEqual(backwards.map((id) => ({ kind: 'written', id })));
      expect(ids.map((id) => held(id))).toEqual(['Ask', 'Ask', 'Ask', 'Ask']);
    });

    it('reads only the properties asked for, and blanks as null', async () => {
      const [found] = await subject.connection.read(ids.slice(0, 1), [text(), subject.properties.long], live());
      expect(found).toMatchObject({ kind: 'found', properties: { [text()]: 'Birk', [subject.properties.long]: null } });
      expect(found?.kind === 'found' ? Object.keys(found.properties).length : 0).toBe(2);
    });

    it('carries numbers, Unicode and long text there and back', async () => {
      const { long, number } = subject.properties;
      const values = {
        [text()]: 'Smørrebrød & Æblegård ApS 🦢',
        [long]: `${'Å'.repeat(1_990)}\n"q" \\`,
        [number]: 1234,
      };
      expect((await write(values, ids.slice(1, 2)))[0]?.kind).toBe('written');
      expect(subject.emulator.get(ids[1] ?? '')).toMatchObject(values);
      const [back] = await subject.connection.read(ids.slice(1, 2), Object.keys(values), live());
      expect(back).toEqual({ kind: 'found', id: ids[1], properties: values });
    });

    it('clears with null and writes zero as a value', async () => {
      await write({ [subject.properties.long]: 'gone soon', [subject.properties.number]: 7 });
      await write({ [subject.properties.long]: null, [subject.properties.number]: 0 });
      expect(held(ids[0], subject.properties.long)).toBe(null);
      expect(held(ids[0], subject.properties.number)).toBe(0);
      expect(held(ids[0])).toBe('Birk');
    });

    it('refuses one bad property by name and writes the other records', async () => {
      const { property, value } = subject.refused;
      const outcomes = await subject.connection.update(
        ids.map((id, i) => ({ id, properties: i === 2 ? { [text()]: 'Ny', [property]: value } : { [text()]: 'Ny' } })),
        live(),
      );
      expect(outcomes.map((o) => o.kind)).toEqual(['written', 'written', 'rejected', 'written']);
      expect(outcomes[2]).toMatchObject({ id: ids[2], properties: { [property]: expect.stringMatching(/\w/) } });
      expect(ids.map((id) => held(id))).toEqual(['Ny', 'Ny', 'Lind', 'Ny']);
    });

    it('says gone for a deleted record and for one that never was, and creates nothing', async () => {
      subject.emulator.remove(ids[1] ?? '');
      const asked = [...ids.slice(0, 2), absentId, ...ids.slice(2)];
      expect((await read(asked)).map((r) => r.kind)).toEqual(['found', 'gone', 'gone', 'found', 'found']);
      expect((await write({ [text()]: 'Ny' }, asked)).map((o) => o.kind)).toEqual([
        'written',
        'gone',
        'gone',
        'written',
        'written',
      ]);
      expect(subject.emulator.get(absentId)).toBeUndefined();
      expect((await subject.connection.scan([text()], undefined, live())).records.length).toBe(3);
    });

    it('says moved, and where to, for a record merged away', async () => {
      const survivor = subject.emulator.merge(ids[0] ?? '', ids[1] ?? '');
      const moved = { kind: 'moved', id: ids[1], to: survivor };
      expect(await read(ids.slice(1, 3))).toMatchObject([moved, { kind: 'found' }]);
      expect(await write({ [text()]: 'Ny' }, ids.slice(1, 3))).toEqual([moved, { kind: 'written', id: ids[2] }]);
    });

    it('scans every record once, whatever the pages', async () => {
      for (let i = 0; i < 230; i += 1) ids.push(subject.emulator.add({ ...subject.company, [text()]: `Nr ${i}` }));
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await subject.connection.scan([text()], cursor, live());
        seen.push(...page.records.map((r) => r.id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect([...seen].sort()).toEqual([...ids].sort());
    });

    it('calls a refused token auth, and never shows it', async () => {
      subject.emulator.fault({ match: '.', times: 50, action: subject.answers.unauthorized });
      const { connection } = subject;
      for (const work of [() => read(ids), () => write({ [text()]: 'x' }), () => connection.check(live())]) {
        const error = await failure(work());
        expect(error.fault).toBe('auth');
        for (const secret of subject.secrets) expect(shown(error)).not.toContain(secret);
      }
    });

    it('calls too many calls rate, with the time the CRM names or one of its own', async () => {
      fault('read', subject.answers.rate);
      const plain = await failure(read(ids));
      expect([plain.fault, (plain.retryAfterMs ?? 0) > 0]).toEqual(['rate', true]);
      fault('update', subject.answers.rateWithRetryAfter);
      const named = await failure(write({ [text()]: 'x' }));
      expect([named.fault, named.retryAfterMs]).toEqual(['rate', 7_000]);
    });

    it.each<[string, FaultAction]>([
      ['500', { kind: 'status', status: 500, body: { message: 'x' } }],
      [
        '502 in HTML',
        { kind: 'status', status: 502, body: '<html>Bad gateway</html>', headers: { 'content-type': 'text/html' } },
      ],
      ['503 without a body', { kind: 'status', status: 503 }],
      [
        '200 in HTML',
        { kind: 'status', status: 200, body: '<html>Maintenance</html>', headers: { 'content-type': 'text/html' } },
      ],
      ['an empty 200', { kind: 'status', status: 200 }],
      ['a 200 without results', { kind: 'status', status: 200, body: {} }],
      ['an answer cut off', { kind: 'cut' }],
      ['a connection reset', { kind: 'reset' }],
      ['no answer', { kind: 'hang' }],
    ])('calls %s unavailable, and makes one call only', async (_label, action) => {
      for (const [call, work] of [
        ['read', () => read(ids)],
        ['update', () => write({ [text()]: 'x' })],
      ] as const) {
        fault(call, action);
        const before = http.requests.length;
        expect((await failure(work())).fault).toBe('unavailable');
        expect(http.requests.length - before).toBe(1);
      }
      expect((await read(ids)).map((r) => r.kind)).toEqual(['found', 'found', 'found', 'found']);
    });

    it.each(['hang', 'reset', 'cut'] as const)('can write again after a %s that hid an applied write', async (kind) => {
      fault('update', { kind, applied: true });
      expect((await failure(write({ [text()]: 'Ny' }))).fault).toBe('unavailable');
      expect(held(ids[0])).toBe('Ny');
      expect((await write({ [text()]: 'Ny' })).map((o) => o.kind)).toEqual([
        'written',
        'written',
        'written',
        'written',
      ]);
      expect((await subject.connection.scan([text()], undefined, live())).records.length).toBe(ids.length);
    });

    it('stops at once when aborted, with the reason of the signal', async () => {
      fault('read', { kind: 'hang' });
      const stop = new AbortController();
      const reason = new Error('stopping');
      const work = subject.connection.read(ids, [text()], stop.signal);
      setTimeout(() => stop.abort(reason), 20);
      await expect(work).rejects.toBe(reason);
      await expect(
        subject.connection.update([{ id: ids[0] ?? '', properties: { [text()]: 'x' } }], stop.signal),
      ).rejects.toBe(reason);
      expect(held(ids[0])).toBe('Birk');
    });
  });
}

/** All a log could print of an error: message, stack, causes, own fields. */
function shown(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? '';
  return `${error.stack ?? error.message} ${JSON.stringify(error, Object.getOwnPropertyNames(error))} ${shown(error.cause)}`;
}
