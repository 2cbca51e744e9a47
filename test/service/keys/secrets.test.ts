import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSecretKey, openSecrets } from '../../../src/service/keys/secrets.ts';
import { newFolder } from '../../support/stores.ts';

const key = randomBytes(32);
const secrets = openSecrets(key);

describe('a sealed text', () => {
  it.each(['', 'whsec_abc', 'blåbærgrød 🫐', 'x'.repeat(100_000)])('is opened with the key', (text) => {
    expect(openSecrets(key).open(secrets.seal(text))).toBe(text);
  });

  it('reveals nothing of its content, and looks different every time', () => {
    const sealed = secrets.seal('hunter2hunter2');
    expect(Buffer.from(sealed.slice(3), 'base64url').toString('latin1')).not.toContain('hunter2');
    expect(secrets.seal('hunter2hunter2')).not.toBe(sealed);
  });

  it('is refused with another key, changed at any place, cut, or empty, without revealing it', () => {
    const sealed = secrets.seal('hunter2');
    expect(() => openSecrets(randomBytes(32)).open(sealed)).toThrow(/another key/);
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === 'A' ? 'Q' : 'A';
      expect(() => secrets.open(sealed.slice(0, at) + other + sealed.slice(at + 1))).toThrow(/cannot be read/);
    }
    for (const text of ['', 'v1.', 'v2.abc', sealed.slice(0, -4), sealed.slice(0, 20)])
      expect(() => secrets.open(text)).toThrow(/cannot be read/);
  });
});

describe('a code', () => {
  it('proves the text it was made for, and no other one', () => {
    const mac = secrets.sign('page 2');
    expect(secrets.verify('page 2', mac)).toBe(true);
    expect(secrets.verify('page 3', mac)).toBe(false);
    expect(openSecrets(randomBytes(32)).verify('page 2', mac)).toBe(false);
    for (const forged of ['', 'x', mac.slice(1), `${mac}AAAA`, '💥'])
      expect(secrets.verify('page 2', forged)).toBe(false);
  });
});

describe('the key', () => {
  it('is the configured one', async () => {
    expect(await loadSecretKey(key.toString('base64'), 'postgres://db/cvrsync')).toEqual(key);
  });

  it('is created once beside a SQLite store, for its owner only, even if many ask at once', async () => {
    const store = path.join(newFolder(), 'data', 'store.db');
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadSecretKey(undefined, store)));
    expect(new Set(keys.map(String)).size).toBe(1);
    expect(keys[0]).toHaveLength(32);
    expect(statSync(`${store}.key`).mode & 0o777).toBe(0o600);
    expect(await loadSecretKey(undefined, store)).toEqual(keys[0]);
    expect(readFileSync(`${store}.key`, 'utf8').trim()).toBe(keys[0]?.toString('base64'));
  });

  it('never replaces a file that holds something else', async () => {
    const store = path.join(newFolder(), 'store.db');
    writeFileSync(`${store}.key`, 'half a k');
    await expect(loadSecretKey(undefined, store)).rejects.toThrow(
      /The key file .*store\.db\.key does not hold 32 bytes in base64: restore it from the backup/,
    );
    expect(readFileSync(`${store}.key`, 'utf8')).toBe('half a k');
  });

  it('must be configured for PostgreSQL', async () => {
    await expect(loadSecretKey(undefined, 'postgres://db/cvrsync')).rejects.toThrow(/secretKey is missing/);
    expect(existsSync('postgres:')).toBe(false);
  });

  it('has 32 bytes', async () => {
    expect(() => openSecrets(randomBytes(16))).toThrow(/16 bytes/);
    await expect(loadSecretKey('c2hvcnQ=', 'store.db')).rejects.toThrow(/service\.secretKey does not hold 32 bytes/);
  });
});
