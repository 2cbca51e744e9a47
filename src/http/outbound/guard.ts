/**
 * Decides which addresses the program may connect to if others choose the host: public ones, and those that the
 * operator allows.
 */
import type { BlockList } from 'node:net';
import { familyOf, networksOf } from '../server/networks.ts';
import { createResolver, type ResolveHost } from './resolve.ts';

export interface GuardOptions {
  readonly allowPrivate?: boolean;
  /** Addresses and networks to allow although they are not public: `10.1.0.0/16`, `fd00::/8`, `127.0.0.1`. */
  readonly allow?: readonly string[];
  /** Origins to allow at any address: that of the connector's own webhook. The list may grow. */
  readonly allowOrigins?: readonly string[];
  /** Finds the addresses of a name; by the name server by default. */
  readonly resolve?: ResolveHost;
}

export interface Guard {
  refusal(address: string): string | undefined;
  trusts(origin: string): boolean;
  readonly resolve: ResolveHost;
}

/** A refused address. The message does not name it, because that would reveal answers of the internal name server. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly code = 'ADDRESS_REFUSED';
}

// https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry; Azure's metadata address
// looks public.
const NOT_PUBLIC: readonly (readonly [network: string, what: string])[] = [
  ['0.0.0.0/8', 'an unspecified address'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', 'an address of a carrier'],
  ['127.0.0.0/8', 'a loopback address'],
  ['168.63.129.16/32', 'a metadata address'],
  ['169.254.0.0/16', 'a link-local or metadata address'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'a reserved address'],
  ['192.0.2.0/24', 'an address for documentation'],
  ['192.88.99.0/24', 'a 6to4 address'],
  ['192.168.0.0/16', 'a private address'],
  ['198.18.0.0/15', 'an address for benchmarks'],
  ['198.51.100.0/24', 'an address for documentation'],
  ['203.0.113.0/24', 'an address for documentation'],
  ['224.0.0.0/4', 'a multicast address'],
  ['240.0.0.0/4', 'a reserved address'],
  // Teredo, ORCHID, benchmarks.
  ['2001::/23', 'a reserved address'],
  ['2001:db8::/32', 'an address for documentation'],
  ['2002::/16', 'a 6to4 address'],
  ['3ffe::/16', 'a reserved address'],
  ['3fff::/20', 'an address for documentation'],
];

/** Global unicast: mapped, translated and routed addresses lie outside. */
const GLOBAL = '2000::/3';

export function createGuard(options: GuardOptions = {}): Guard {
  const allowed = networksOf(options.allow ?? []);
  const { allowOrigins = [] } = options;
  return {
    refusal: (address) => (options.allowPrivate === true ? undefined : refusalOf(address, allowed)),
    trusts: (origin) => allowOrigins.some((one) => new URL(one).origin === origin),
    resolve: options.resolve ?? createResolver(),
  };
}

function refusalOf(given: string, allowed: BlockList): string | undefined {
  const [address = ''] = given.split('%', 1);
  const family = familyOf(address);
  if (family === undefined) return 'no address';
  if (allowed.check(address, family)) return undefined;
  if (family === 'ipv6' && !PUBLIC_V6.check(address, 'ipv6')) return 'an address that is not global';
  return RANGES.find(({ list }) => list.check(address, family))?.what;
}

const PUBLIC_V6 = networksOf([GLOBAL]);
const RANGES = NOT_PUBLIC.map(([network, what]) => ({ list: networksOf([network]), what }));
