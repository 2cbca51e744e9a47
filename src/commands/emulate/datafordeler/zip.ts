/** Writes a zip archive of one file; with `isLarge` in the form of archives over 4 GB (zip64). */
import { crc32, deflateRawSync } from 'node:zlib';

const ELSEWHERE = 0xff_ff_ff_ff;

export function zipOf(name: string, content: Buffer, isLarge = false): Buffer {
  const packed = deflateRawSync(content);
  const title = Buffer.from(name);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04_03_4b_50);
  writeCommon(local, 4, { content, packed, title, isLarge: false });
  const central = centralOf({ content, packed, title, isLarge });
  const at = local.length + title.length + packed.length;
  return Buffer.concat([local, title, packed, central, endOf(at, central.length, isLarge)]);
}

interface Entry {
  readonly content: Buffer;
  readonly packed: Buffer;
  readonly title: Buffer;
  readonly isLarge: boolean;
}

/** What the headers of the entry and of the directory share, from the version on. */
function writeCommon(header: Buffer, at: number, { content, packed, title, isLarge }: Entry): void {
  header.writeUInt16LE(isLarge ? 45 : 20, at);
  header.writeUInt16LE(8, at + 4);
  header.writeUInt32LE(crc32(content), at + 10);
  header.writeUInt32LE(isLarge ? ELSEWHERE : packed.length, at + 14);
  header.writeUInt32LE(isLarge ? ELSEWHERE : content.length, at + 18);
  header.writeUInt16LE(title.length, at + 22);
}

function centralOf(entry: Entry): Buffer {
  const { content, packed, title, isLarge } = entry;
  const central = Buffer.alloc(46);
  central.writeUInt32LE(0x02_01_4b_50);
  writeCommon(central, 6, entry);
  if (!isLarge) return Buffer.concat([central, title]);
  const extra = Buffer.alloc(28);
  extra.writeUInt16LE(1);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(BigInt(content.length), 4);
  extra.writeBigUInt64LE(BigInt(packed.length), 12);
  central.writeUInt16LE(extra.length, 30);
  central.writeUInt32LE(ELSEWHERE, 42);
  return Buffer.concat([central, title, extra]);
}

function endOf(at: number, length: number, isLarge: boolean): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(isLarge ? ELSEWHERE : length, 12);
  end.writeUInt32LE(isLarge ? ELSEWHERE : at, 16);
  if (!isLarge) return end;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06_06_4b_50);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(1n, 24);
  record.writeBigUInt64LE(1n, 32);
  record.writeBigUInt64LE(BigInt(length), 40);
  record.writeBigUInt64LE(BigInt(at), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07_06_4b_50);
  locator.writeBigUInt64LE(BigInt(at + length), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}
