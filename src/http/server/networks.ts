/** Addresses and networks: which one holds an address, and what counts as one client. */
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The family of an address, as a {@link BlockList} names it; undefined if the text is no address. */
export const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined => {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
};

/** The list of these addresses and networks. Throws if one is none. */
export function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network.trim()) ?? [];
    const family = familyOf(address);
    const most = family === 'ipv4' ? 32 : 128;
    const bits = length === undefined ? most : Number(length);
    if (family === undefined || bits > most)
      throw new Error(`${network} is no address or network, such as 10.1.0.0/16 or fd00::/8`);
    list.addSubnet(address, bits, family);
  }
  return list;
}

/** An IPv4 address in its plain spelling, wherever it came in. Of a connection that ended there is none. */
const plain = (address = ''): string => (address.includes('.') ? address.replace(/^::ffff:/i, '') : address);

/** Whether a list holds an address, in either spelling. */
export function holds(list: BlockList, address: string | undefined): boolean {
  const family = familyOf(plain(address));
  return family !== undefined && list.check(plain(address), family);
}

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address, because who has one of its addresses has all. */
export function clientOf(address: string | undefined): string {
  const own = plain(address);
  // A proxy may name what is no address.
  if (!isIPv6(own)) return own.slice(0, 64);
  const [left = '', right = ''] = own.split('::', 2);
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [head, tail] = [groups(left), groups(right)];
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
