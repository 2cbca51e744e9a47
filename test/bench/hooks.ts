/** Webhooks in a process of their own: each answers 204 at once, but for those told to hang. */
import { createServer } from 'node:http';
import { answerWith } from './child.ts';

let posts = 0;
let hanging = '';
/** When each post came in, ms since 1970, by path and company. */
let times = new Map<string, number>();
let timing = false;

const server = createServer((request, response) => {
  posts += 1;
  const at = performance.timeOrigin + performance.now();
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (timing) {
      const { entityId }: { entityId: string } = JSON.parse(Buffer.concat(parts).toString('utf8'));
      times.set(`${request.url} ${entityId}`, at);
    }
    if (request.url !== hanging) response.writeHead(204).end();
  });
});

export const verbs = {
  /** Listens, and says where. */
  start(): Promise<string> {
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
      });
    });
  },
  /** Forgets what came in; from now on one path hangs, and when posts come in is noted. */
  begin({ hang, time }: { hang: string; time: boolean }): void {
    posts = 0;
    hanging = hang;
    timing = time;
    times = new Map();
    server.closeAllConnections();
  },
  /** How many posts came in since, and when. */
  seen(): { readonly posts: number; readonly times: ReadonlyMap<string, number> } {
    return { posts, times };
  },
};

answerWith(verbs);
