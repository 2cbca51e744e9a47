/**
 * Connections that skip `100 Continue`. A client that did not ask for it should ignore it
 * (https://www.rfc-editor.org/rfc/rfc9110#section-15.2), but undici ends the connection and loses the answer that
 * follows: an accepted delivery would look failed.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

const BEGINNING = 'HTTP/1.1 100 ';
const IS_CONTINUE = /^HTTP\/1\.[01] 100[ \r\n]/;
const END = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);

export const skippingContinue =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...outcome) => {
      const [, socket] = outcome;
      // After an error undici omits the socket, contrary to its types.
      if (socket) skipContinue(socket);
      callback(...outcome);
    });

/** Replaces the function that undici reads with. Writing a byte begins a new answer, because undici never pipelines. */
function skipContinue(socket: Socket): void {
  const readNext = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let written = -1;
  let isBeginning = false;
  let isSkipping = false;
  let held: Buffer = NOTHING;

  const hold = (bytes: Buffer): undefined => {
    held = bytes;
  };
  /**
   * The bytes after the `100 Continue` that begins here; undefined if it is incomplete, `bytes` itself if none begins.
   */
  const behind = (bytes: Buffer): Buffer | undefined => {
    if (!isSkipping) {
      const head = bytes.toString('latin1', 0, BEGINNING.length);
      if (head.length < BEGINNING.length && mayBecomeContinue(head)) return hold(bytes);
      if (!IS_CONTINUE.test(head)) return bytes;
    }
    const end = bytes.indexOf(END);
    isSkipping = end === -1;
    return isSkipping ? hold(bytes.subarray(1 - END.length)) : bytes.subarray(end + END.length);
  };
  /** The bytes of a chunk that belong to an answer; empty until more arrive. */
  const answerIn = (chunk: Buffer): Buffer => {
    let rest: Buffer = Buffer.concat([held, chunk]);
    held = NOTHING;
    for (;;) {
      const next = behind(rest);
      if (next === undefined) return NOTHING;
      isBeginning = next !== rest;
      if (!isBeginning) return rest;
      rest = next;
    }
  };

  socket.read = (size) => {
    // Without a size, Node only fills its buffer while the reader is slow.
    if (size !== undefined) return readNext(size);
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      isBeginning = true;
    }
    for (;;) {
      const chunk = readNext();
      if (chunk === null || !isBeginning) return chunk;
      const rest = answerIn(chunk);
      if (rest.length > 0) return rest;
    }
  };
}

const mayBecomeContinue = (head: string): boolean =>
  BEGINNING.startsWith(head) || BEGINNING.replace('1.1', '1.0').startsWith(head);
