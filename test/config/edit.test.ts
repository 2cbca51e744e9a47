/** Edits of a configuration file keep comments, anchors and spellings, and change nothing else. */
import { describe, expect, it } from 'vitest';
import { type ConfigEdit, editConfig } from '../../src/config/edit.ts';
import { parseConfig } from '../../src/config/parse.ts';

const FIELDS = ['connector', 'providers', 'hubspot', 'fields'];
const edited = (text: string, ...edits: readonly ConfigEdit[]): string => {
  const result = editConfig(text, edits);
  if (!result.ok) throw new Error('refused');
  return result.text;
};
const meantBy = (text: string): unknown => {
  const parsed = parseConfig(text);
  return parsed.ok ? parsed.value : parsed.errors;
};

const FILE = `# The head.
store: data/cvrsync.db

connector:
  # The CRMs of both countries.
  providers:
    hubspot:
      use: hubspot
      accessToken: "\${HUBSPOT_TOKEN}" # of Ida
      fields:
        # Sales wanted it so.
        name: { property: name, policy: always } # since March
        industryCode: 011100
    other: { use: hubspot, accessToken: '2' }
`;

describe('a change', () => {
  it('keeps comments, quotes, codes and order, and touches nothing else', () => {
    const text = edited(
      FILE,
      { path: [...FIELDS, 'name'], value: { property: 'name', policy: 'if-blank' } },
      { path: [...FIELDS, 'phone'], value: false },
      { path: ['connector', 'providers', 'other', 'only', 'lifecyclestage'], value: ['customer'] },
    );
    const changed = FILE.split('\n').filter((line) => !`${text}\n`.includes(`${line}\n`));
    // A code that the reader takes for a text is written as one.
    expect(changed.map((line) => line.trim().split(':')[0])).toEqual(['name', 'industryCode', 'other']);
    expect(text).toContain('        name: { property: name, policy: if-blank } # since March\n');
    expect(text).toContain('        industryCode: "011100"\n        phone: false\n');
    expect(meantBy(text)).toMatchObject({
      connector: { providers: { other: { accessToken: '2', only: { lifecyclestage: ['customer'] } } } },
    });
  });

  it('removes a key, and a section that it leaves empty', () => {
    const text = edited(
      FILE,
      { path: [...FIELDS, 'name'], value: undefined },
      { path: [...FIELDS, 'industryCode'], value: undefined },
    );
    expect(text).not.toContain('fields:');
    expect(text).toContain(`accessToken: "\${HUBSPOT_TOKEN}" # of Ida`);
  });

  it('begins a file without content, and keeps the line ends and the indentation of another', () => {
    expect(edited('', { path: ['logLevel'], value: 'warn' })).toBe('logLevel: warn\n');
    const wide = 'connector:\r\n    providers:\r\n        a: { use: hubspot }\r\n';
    expect(edited(wide, { path: ['connector', 'providers', 'a', 'persons'], value: true })).toBe(
      'connector:\r\n    providers:\r\n        a: { use: hubspot, persons: true }\r\n',
    );
  });

  it('of a JSON file leaves JSON', () => {
    const text = edited('{\n  "store": "a.db",\n  "logLevel": "info"\n}\n', { path: ['logLevel'], value: 'warn' });
    expect(text).toBe('{\n  "store": "a.db",\n  "logLevel": "warn"\n}\n');
  });
});

describe('with anchors', () => {
  const ANCHORED = `base: &base
  fields: &fields
    name: name # both
    phone: phone
connector:
  providers:
    hubspot: { use: hubspot, fields: *fields }
    second:
      <<: *base
      use: hubspot
`;
  const of = (name: string, field: string) => ['connector', 'providers', name, 'fields', field];

  it('an alias that changes becomes a copy of its own', () => {
    const text = edited(ANCHORED, { path: of('hubspot', 'name'), value: 'cvr_name' });
    expect(text).toContain('name: name # both');
    expect(meantBy(text)).toMatchObject({
      base: { fields: { name: 'name' } },
      connector: {
        providers: { hubspot: { fields: { name: 'cvr_name', phone: 'phone' } }, second: { fields: { name: 'name' } } },
      },
    });
  });

  it('merged content is copied before it changes', () => {
    const text = edited(ANCHORED, { path: of('second', 'name'), value: 'cvr_name' });
    expect(text).toContain('<<: *base');
    expect(meantBy(text)).toMatchObject({
      connector: { providers: { second: { fields: { name: 'cvr_name', phone: 'phone' } } } },
    });
  });

  it('other users of a changed anchor keep its old content', () => {
    const shared = `connector:
  providers:
    hubspot: { use: hubspot, fields: &f { name: name, phone: phone } }
    second: { use: hubspot, fields: *f } # the same
`;
    const text = edited(shared, { path: of('hubspot', 'name'), value: false });
    expect(text).toContain('# the same');
    expect(meantBy(text)).toEqual({
      connector: {
        providers: {
          hubspot: { use: 'hubspot', fields: { name: false, phone: 'phone' } },
          second: { use: 'hubspot', fields: { name: 'name', phone: 'phone' } },
        },
      },
    });
  });

  it('a removal of merged content is refused', () => {
    const merged = 'a: &a { x: 1, y: 2 }\nb:\n  <<: *a\n  z: 3\n';
    expect(editConfig(merged, [{ path: ['b', 'x'], value: undefined }])).toEqual({ ok: false });
  });
});

it('a file with a syntax error is refused', () => {
  expect(editConfig('store: "a\n', [{ path: ['logLevel'], value: 'warn' }])).toEqual({ ok: false });
});
