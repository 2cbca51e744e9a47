import { createHook } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { gunzip } from '../../../src/http/outbound/gunzip.ts';

const ENOUGH = 10_000_000;
const TEXT = Buffer.from('Rørvig Handel '.repeat(100_000));

/** The same body with another size at its end. */
const stating = (body: Buffer, size: number): Buffer => {
  const end = Buffer.alloc(4);
  end.writeUInt32LE(size);
  return Buffer.concat([body.subarray(0, -4), end]);
};

test('a body is decompressed completely, whatever its size: none, a byte, a chunk of zlib, more than one', async () => {
  for (const size of [0, 1, 16_383, 16_384, 16_385, 1_000_000]) {
    const bytes = randomBytes(size);
    expect((await gunzip(gzipSync(bytes), ENOUGH)).equals(bytes), `${size} bytes`).toBe(true);
  }
  expect((await gunzip(gzipSync(TEXT), ENOUGH)).equals(TEXT)).toBe(true);
});

test('a body of several members is read completely, though its end states the size of the last', async () => {
  const whole = await gunzip(Buffer.concat([gzipSync(TEXT), gzipSync('and'), gzipSync('more')]), ENOUGH);
  expect(whole.equals(Buffer.concat([TEXT, Buffer.from('andmore')]))).toBe(true);
});

test('a body that states a wrong size is refused, like one that is cut', async () => {
  for (const body of [stating(gzipSync(TEXT), 3), stating(gzipSync(TEXT), 0xffff_ffff), gzipSync(TEXT).subarray(0, -9)])
    await expect(gunzip(body, ENOUGH)).rejects.toThrow(/incorrect length check|unexpected end of file/u);
});

test('a body with more bytes than allowed is a RangeError, and one with as many is read', async () => {
  const body = gzipSync(TEXT);
  await expect(gunzip(body, TEXT.length - 1)).rejects.toThrow(RangeError);
  expect((await gunzip(body, TEXT.length)).length).toBe(TEXT.length);
});

test('a small body that claims to be huge takes no memory for it', async () => {
  const body = stating(gzipSync(TEXT), 0xffff_ffff);
  const before = process.memoryUsage();
  const all = Array.from({ length: 20 }, () => gunzip(body, 2 ** 28));
  expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(200_000_000);
  await Promise.allSettled(all);
  expect(process.memoryUsage.rss() - before.rss).toBeLessThan(200_000_000);
});

test('a body is decompressed in one go, with one event for the body and one for its end', async () => {
  const kinds = new Map<number, string>();
  let goes = 0;
  const hook = createHook({
    init: (id, kind) => void kinds.set(id, kind),
    before: (id) => void (kinds.get(id) === 'ZLIB' && goes++),
  });
  hook.enable();
  await gunzip(gzipSync(TEXT), ENOUGH);
  hook.disable();
  expect(goes).toBe(2);
});
