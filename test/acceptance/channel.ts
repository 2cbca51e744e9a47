/** Where the alerts of cvrsync itself arrive: what began, what is over, and when. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Clock } from './clock.ts';

export interface Told {
  readonly kind: 'begun' | 'over';
  readonly what: string;
  /** In the time of the daemons. */
  readonly at: number;
}

export interface AlertChannel {
  readonly url: string;
  /** All messages so far. */
  readonly told: readonly Told[];
  close(): void;
}

export async function openAlertChannel(clock: Clock): Promise<AlertChannel> {
  const told: Told[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { text = '' }: { text?: string } = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    let kind: Told['kind'] = 'begun';
    for (const line of text.split('\n')) {
      if (line.startsWith('Over at ')) kind = 'over';
      if (line.startsWith('• ')) told.push({ kind, what: line.slice(2), at: clock.now() });
    }
    response.writeHead(200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/alerts`,
    told,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
