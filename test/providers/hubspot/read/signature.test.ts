import { describe, expect, it } from 'vitest';
import { refusalOf, signatureOf } from '../../../../providers/hubspot/read/signature.ts';

const SECRET = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy';
const URL = 'https://www.example.com/webhook_uri';
const BODY = "{'example_field':'example_value'}";
// Made outside this project. The first is HubSpot's own example.
const KNOWN = [
  ['1693657560000', 'K36dawei4A+QBNolUOqo7s91KQDWQ5MXZ/QufNYuk/Y='],
  ['1700000300000', 'RnbPH7+UMKVkbV32P8bz450N4M56aPmcru1+D3kSDtw='],
] as const;

const bytes = (text: string) => new TextEncoder().encode(text);

const request = (timestamp: string, signature: string, body = BODY, url = URL) => ({
  method: 'POST',
  url,
  headers: { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': timestamp },
  body: bytes(body),
});

/** Signed as HubSpot does, at a time. */
const signed = (at: number, body: string, url = URL, signedUrl = url) =>
  request(
    String(at),
    signatureOf(SECRET, { method: 'POST', url: signedUrl, body: bytes(body) }, String(at)),
    body,
    url,
  );

describe('signature v3', () => {
  it.each(KNOWN)('is the known answer at %s', (timestamp, signature) => {
    expect(signatureOf(SECRET, { method: 'POST', url: URL, body: bytes(BODY) }, timestamp)).toBe(signature);
    expect(refusalOf(request(timestamp, signature), SECRET, Number(timestamp) + 1_000)).toBeUndefined();
  });

  it.each(KNOWN)('is refused at %s with another secret, body, address, method, or none', (timestamp, signature) => {
    const good = request(timestamp, signature);
    const at = Number(timestamp);
    expect(refusalOf(good, `${SECRET}x`, at)).toMatch(/signature is wrong/);
    expect(refusalOf({ ...good, body: bytes(`${BODY} `) }, SECRET, at)).toMatch(/signature is wrong/);
    expect(refusalOf({ ...good, url: `${URL}?a=1` }, SECRET, at)).toMatch(/public address/);
    expect(refusalOf({ ...good, method: 'PUT' }, SECRET, at)).toMatch(/signature is wrong/);
    expect(refusalOf({ ...good, headers: {} }, SECRET, at)).toMatch(/X-HubSpot-Signature-v3/);
    expect(refusalOf(request(timestamp, signature.slice(1)), SECRET, at)).toMatch(/signature is wrong/);
  });

  it('is refused after five minutes, and from the future beyond what clocks differ', () => {
    const at = 1_780_000_000_000;
    const good = signed(at, '[]');
    expect(refusalOf(good, SECRET, at + 300_000)).toBeUndefined();
    expect(refusalOf(good, SECRET, at + 300_001)).toMatch(/five minutes/);
    expect(refusalOf(good, SECRET, at - 60_000)).toBeUndefined();
    expect(refusalOf(good, SECRET, at - 60_001)).toMatch(/future/);
  });

  it.each(['soon', '', '1e12', '-1', '0x10', '1700000300000.5', '9'.repeat(40)])(
    'is refused if the timestamp is %j',
    (timestamp) => {
      const signature = signatureOf(SECRET, { method: 'POST', url: URL, body: bytes(BODY) }, timestamp);
      expect(refusalOf(request(timestamp, signature), SECRET, 1_700_000_300_000)).toMatch(/timestamp|signed/i);
    },
  );

  it('covers the raw bytes, whatever they spell', () => {
    const at = 1_780_000_000_000;
    expect(refusalOf(signed(at, '[{"propertyValue":"Rødgrød ApS 🍓"}]'), SECRET, at)).toBeUndefined();
    const invalid = new Uint8Array([0xff, 0xfe, 0x00, 0x22]);
    const signature = signatureOf(SECRET, { method: 'POST', url: URL, body: invalid }, String(at));
    expect(refusalOf({ ...request(String(at), signature), body: invalid }, SECRET, at)).toBeUndefined();
  });

  it('covers the address with some characters decoded, and no others', () => {
    const at = 1_780_000_000_000;
    const url = 'https://www.example.com/a?to=x%40y.dk%3Fb%2Fc&name=S%C3%B8&space=%20';
    const decoded = 'https://www.example.com/a?to=x@y.dk?b/c&name=S%C3%B8&space=%20';
    expect(refusalOf(signed(at, '[]', url, decoded), SECRET, at)).toBeUndefined();
    expect(refusalOf(signed(at, '[]', url, decodeURIComponent(url)), SECRET, at)).toMatch(/signature is wrong/);
  });
});
