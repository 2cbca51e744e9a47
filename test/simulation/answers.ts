/** Reads in what PostgreSQL sends the few messages that say how far it is. */

/** `process`: the server's process of the connection. `ready`: all that was asked is answered; `T` and `E` are amid a transaction. */
export type Answer =
  | { readonly kind: 'process'; readonly pid: number }
  | { readonly kind: 'ready'; readonly state: string };

/** A type and a length of four bytes, which counts itself. */
const HEAD = 5;

/** Returns what finds the messages in one piece after the other, of one connection. */
export function readAnswers(): (piece: Buffer) => readonly Answer[] {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    const found: Answer[] = [];
    let at = 0;
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    while (at + HEAD <= bytes.length && at + 1 + bytes.readInt32BE(at + 1) <= bytes.length) {
      const type = String.fromCharCode(bytes.readUInt8(at));
      if (type === 'K') found.push({ kind: 'process', pid: bytes.readInt32BE(at + HEAD) });
      if (type === 'Z') found.push({ kind: 'ready', state: String.fromCharCode(bytes.readUInt8(at + HEAD)) });
      at += 1 + bytes.readInt32BE(at + 1);
    }
    rest = bytes.subarray(at);
    return found;
  };
}
