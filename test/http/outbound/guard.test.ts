import { describe, expect, it } from 'vitest';
import { createGuard } from '../../../src/http/outbound/guard.ts';

const guard = createGuard();

describe('an address that is not public', () => {
  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:2::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('is refused: %s', (address) => {
    expect(guard.refusal(address)).toBeTypeOf('string');
  });

  it('passes if all are allowed', () => {
    expect(createGuard({ allowPrivate: true }).refusal('127.0.0.1')).toBeUndefined();
  });

  it('passes if its network is allowed, and no other does', () => {
    const some = createGuard({ allow: ['10.1.0.0/16', 'fd00::/8', '127.0.0.1'] });
    for (const address of ['10.1.2.3', 'fd12::1', '127.0.0.1']) expect(some.refusal(address)).toBeUndefined();
    for (const address of ['10.2.0.1', 'fc00::1', '127.0.0.2', '::1']) expect(some.refusal(address)).toBeDefined();
  });
});

it.each(['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.32.0.1', '192.0.1.1', '2606:4700::1', '2a00::1'])(
  'a public address passes: %s',
  (address) => {
    expect(guard.refusal(address)).toBeUndefined();
  },
);

it.each(['10.0.0.0/33', 'fd00::/129', 'example.com', '10.0.0.0/a', ''])('a bad network is refused: %j', (network) => {
  expect(() => createGuard({ allow: [network] })).toThrow('is not an address or network');
});

it('an origin is trusted by scheme, host and port together', () => {
  const own = createGuard({ allowOrigins: ['http://127.0.0.1:8080/webhook'] });
  expect(own.trusts('http://127.0.0.1:8080')).toBe(true);
  for (const other of ['https://127.0.0.1:8080', 'http://127.0.0.1:8081', 'http://127.0.0.1', 'http://localhost:8080'])
    expect(own.trusts(other)).toBe(false);
});
