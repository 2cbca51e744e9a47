/** Certificates of an authority of a test's own, for servers that speak TLS. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Authority {
  /** Its certificate, as PEM. */
  readonly certificate: string;
  /** A server's certificate and key for a name of DNS, as PEM. */
  issue(host: string): { readonly certificate: string; readonly key: string };
}

/** An authority that nobody trusts yet. */
export function createAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issue = (subject: string, key: KeyObject, extension: Buffer) =>
    certificateOf({ issuer: name, subject, key, extension, signer: privateKey });
  return {
    certificate: issue(name, publicKey, extensionOf(BASIC_CONSTRAINTS, sequence(Buffer.from('0101ff', 'hex')))),
    issue(host) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      // A name of DNS is the third choice of a GeneralName.
      const names = extensionOf(SUBJECT_ALT_NAME, sequence(der(0x82, Buffer.from(host))));
      const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      return { certificate: issue(host, pair.publicKey, names), key };
    },
  };
}

const BASIC_CONSTRAINTS = '0603551d13';
const SUBJECT_ALT_NAME = '0603551d11';
const COMMON_NAME = '0603550403';
/** ecdsa-with-SHA256 */
const SIGNED_BY = Buffer.from('300a06082a8648ce3d040302', 'hex');

interface Content {
  readonly issuer: string;
  readonly subject: string;
  readonly key: KeyObject;
  readonly extension: Buffer;
  readonly signer: KeyObject;
}

function certificateOf({ issuer, subject, key, extension, signer }: Content): string {
  const content = sequence(
    Buffer.from('a003020102', 'hex'),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    SIGNED_BY,
    nameOf(issuer),
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    nameOf(subject),
    key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign('sha256', content, signer)]));
  const body = sequence(content, SIGNED_BY, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${body.replaceAll(/.{64}/gu, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));

const nameOf = (name: string): Buffer =>
  sequence(der(0x31, sequence(Buffer.from(COMMON_NAME, 'hex'), der(0x0c, Buffer.from(name)))));

const extensionOf = (id: string, value: Buffer): Buffer => sequence(Buffer.from(id, 'hex'), der(0x04, value));
