import { BlockList, isIP, isIPv6 } from 'node:net';

/** Undefined if the text is not an address. */
export const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined => {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
};

/** Throws if an entry is not an address or network. */
export function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network.trim()) ?? [];
    const family = familyOf(address);
    const most = family === 'ipv4' ? 32 : 128;
    const bits = length === undefined ? most : Number(length);
    if (family === undefined || bits > most)
      throw new Error(`${network} is not an address or network, such as 10.1.0.0/16 or fd00::/8`);
    list.addSubnet(address, bits, family);
  }
  return list;
}

/** Removes the IPv6 mapping of an IPv4 address. A closed connection has no address. */
const plain = (address = ''): string => (address.includes('.') ? address.replace(/^::ffff:/i, '') : address);

export function holds(list: BlockList, address: string | undefined): boolean {
  const family = familyOf(plain(address));
  return family !== undefined && list.check(plain(address), family);
}

/** One client is an IPv4 address or the /64 of an IPv6 address, which has one owner. */
export function clientOf(address: string | undefined): string {
  const own = plain(address);
  // A proxy may send anything as an address.
  if (!isIPv6(own)) return own.slice(0, 64);
  const [left = '', right = ''] = own.split('::', 2);
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [head, tail] = [groups(left), groups(right)];
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}

const LOOPBACK = networksOf(['127.0.0.0/8', '::1']);

/** Whether only this machine reaches a server on this host. Of names, only `localhost` is certain. */
export function isLoopback(host: string): boolean {
  const family = familyOf(host);
  return family === undefined ? host === 'localhost' : LOOPBACK.check(host, family);
}
