/** Ports of loopback. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Below those that the machine gives to outgoing connections: nobody takes one before its listener does. */
const [FIRST, LAST] = [20_000, 32_000];

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Resolves once somebody listens there; fails after 30 s. */
export async function untilListening(port: number): Promise<void> {
  for (const end = performance.now() + 30_000; ; ) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    if (performance.now() > end) throw new Error(`nobody listens on port ${port}`);
    await sleep(50);
  }
}
