import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, findValue, isJsonObject, readJson } from '../../../src/protocol/text/json.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');

describe('reading JSON from strangers', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(readJson(bytes(text))).toEqual({ ok: true, value: JSON.parse(text), text });
      }),
    );
  });

  it('drops a byte order mark', () => {
    expect(readJson(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes('{"a":1}')]))).toEqual({
      ok: true,
      value: { a: 1 },
      text: '{"a":1}',
    });
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'empty'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'UTF-8'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'UTF-8'],
    ['half a document', bytes('{"a":'), 'not JSON'],
    ['1,000 levels of lists', bytes('['.repeat(1000) + ']'.repeat(1000)), 'deeper than 100'],
    ['1,000 levels of objects', bytes(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`), 'deeper than 100'],
    ['a million opening brackets', bytes('['.repeat(1_000_000)), 'deeper than 100'],
  ])('refuses %s', (_, body, reason) => {
    expect(readJson(body)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
  });

  it('counts brackets outside of texts only', () => {
    const text = JSON.stringify({ a: `"\\${'['.repeat(500)}`, b: '\\' });
    expect(readJson(bytes(text))).toEqual({ ok: true, value: JSON.parse(text), text });
  });

  it('accepts exactly as many levels as allowed', () => {
    const nested = (depth: number) => readJson(bytes('['.repeat(depth) + ']'.repeat(depth)), 7).ok;
    expect([nested(7), nested(8)]).toEqual([true, false]);
  });

  it('leaves prototypes alone', () => {
    const read = readJson(bytes('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'));
    expect(read.ok).toBe(true);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('finding a key', () => {
  it('prefers the exact name and falls back on any case, never on what an object inherits', () => {
    expect(findValue({ NAME: 1, name: 2 }, 'name')).toBe(2);
    expect(findValue({ Name: 1 }, 'name')).toBe(1);
    expect(findValue({}, 'constructor', 'toString')).toBeUndefined();
    expect(isJsonObject([]) || isJsonObject(null) || isJsonObject('x')).toBe(false);
  });
});

describe('canonical JSON', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (value) => {
        expect(canonicalJson(Object.fromEntries(Object.entries(value).reverse()))).toBe(canonicalJson(value));
      }),
    );
  });

  it('has the keys of each object in the order of their code units, whatever they are', () => {
    const written = (value: unknown): string => {
      if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
      if (!isJsonObject(value)) return JSON.stringify(value);
      const keys = Object.keys(value).sort();
      return `{${keys.map((key) => `${JSON.stringify(key)}:${written(value[key])}`).join(',')}}`;
    };
    const keys = fc.oneof(fc.string(), fc.nat().map(String), fc.constantFrom('__proto__', 'toJSON', '10', '9'));
    const { value: values } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.array(tie('value')), tie('object')),
      object: fc.array(fc.tuple(keys, tie('value'))).map((entries) => Object.fromEntries(entries)),
    }));
    fc.assert(
      fc.property(values, (value) => {
        expect(canonicalJson(value)).toBe(written(value));
      }),
    );
  });

  it('keeps numbers beyond the range apart from null', () => {
    const read = readJson(bytes('{"a":1e400,"b":-1e400,"c":123456789012345678901234567890}'));
    expect(read.ok && canonicalJson(read.value)).toBe('{"a":1e999,"b":-1e999,"c":1.2345678901234568e+29}');
  });
});
