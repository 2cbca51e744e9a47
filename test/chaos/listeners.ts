/** Hundreds of monitors beside the CRMs' jobs, and the moody receiver of their webhooks. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { EventName } from '../../src/protocol/events.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { webhookId } from '../../src/service/delivery/post.ts';
import { addItem } from '../../src/service/items/items.ts';
import type { Secrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import type { Store } from '../../src/store/store.ts';

export interface Listener {
  readonly id: string;
  /** Undefined: it is told of every company. */
  readonly entities: ReadonlySet<string> | undefined;
  /** Undefined: of all events. */
  readonly events: readonly EventName[] | undefined;
}

/** One post that came in. `taken`: it was answered with success. */
interface Post {
  readonly id: string;
  readonly entity: string;
  readonly body: string;
  taken: boolean;
}

export interface Receiver {
  readonly url: string;
  /** By monitor, in the order in which they were answered. */
  readonly posts: ReadonlyMap<string, readonly Post[]>;
  /** Called for every post. */
  onPost: () => void;
}

/** Shorter than the daemon's patience, which would take longer than the test. */
const HANG_MS = 1_500;
const MOST_HANGS = 8;

/** A receiver on loopback whose path is the monitor; some posts fail in a way of their own. */
export async function openReceiver(random: Random): Promise<Receiver> {
  const posts = new Map<string, Post[]>();
  let hangs = 0;
  const receiver = { url: '', posts, onPost: () => {} };
  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    const body = await text(request).catch(() => undefined);
    // Its sender was killed amid the post.
    if (body === undefined) return;
    receiver.onPost();
    const monitor = request.url?.slice(1) ?? '';
    const { entityId: entity }: { readonly entityId: string } = JSON.parse(body);
    const id = String(request.headers['webhook-id']);
    const mood = random.int(0, 999);
    if (mood < 3 && hangs++ < MOST_HANGS) await sleep(HANG_MS);
    else if (mood < 60) await sleep(random.int(10, 200));
    const taken = mood >= 100 || (mood >= 40 && mood < 60);
    const list = posts.get(monitor) ?? [];
    posts.set(monitor, list);
    list.push({ id, entity, body: hash('sha256', body), taken });
    if (taken) response.writeHead(204).end();
    else fail(response, mood);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  receiver.url = `http://127.0.0.1:${port}`;
  return receiver;
}

function fail(response: ServerResponse, mood: number): void {
  if (mood < 20) response.destroy();
  else if (mood < 30) response.writeHead(302, { location: '/elsewhere' }).end();
  else if (mood < 70) response.writeHead(503).end('busy');
  else response.writeHead(500).end('<html>');
}

/** Makes monitors: a few of everything, the others of a few companies and people, a third of some events only. */
export async function addListeners(
  store: Store,
  secrets: Secrets,
  receiver: Receiver,
  wanted: { readonly count: number; readonly entities: readonly string[]; readonly random: Random },
): Promise<readonly Listener[]> {
  const { count, entities: all, random } = wanted;
  const pick = (): string => all[random.int(0, all.length - 1)] ?? '';
  const now = Date.now();
  const listeners: Listener[] = [];
  for (let at = 0; at < count; at++) {
    const entities = random.chance(0.06) ? undefined : new Set([pick(), pick()]);
    const events = random.chance(0.33)
      ? (['name', 'address', 'phoneNumber', 'board', 'ownership'] as const)
      : undefined;
    const id = await store.write(async (tx) => {
      const target = entities === undefined ? 'all' : 'items';
      const schedule = Array.from({ length: 50 }, (_, attempt) => (attempt === 0 ? 0 : 1));
      const input = { name: `Listener ${at}`, url: receiver.url, target, schedule, ...(events && { events }) } as const;
      const monitor = await createMonitor(tx, input, { secrets, now });
      const url = secrets.seal(`${receiver.url}/${monitor.id}`);
      await tx.updateTable('monitor').set({ url }).where('id', '=', monitor.id).execute();
      for (const entity of entities ?? [])
        await addItem(tx, { monitor: monitor.id, entity, recordId: '', sendUpdate: false, now });
      return monitor.id;
    });
    listeners.push({ id, entities, events });
  }
  return listeners;
}

type Said = Pick<Change, 'id' | 'entity' | 'updates'>;

/** The changes of the register that a listener is to be told of, in their order. */
export const toldTo = <C extends Said>({ entities, events }: Listener, changes: readonly C[]): readonly C[] =>
  changes.filter(
    ({ entity, updates }) =>
      (entities?.has(entity) ?? entity.startsWith('CVR-1-')) &&
      Object.keys(updates).some((event) => events?.some((wanted) => wanted === event) ?? true),
  );

/** Everything that is wrong with what came in, as sentences. `changes`: those of the register as they are stored, in order. */
export function complaints(
  listeners: readonly Listener[],
  receiver: Receiver,
  changes: readonly Said[],
): readonly string[] {
  return listeners.flatMap((listener): readonly string[] => {
    const posts = receiver.posts.get(listener.id) ?? [];
    const bodies = new Map(posts.map(({ id, body }) => [id, body]));
    const changed = posts.filter(({ id, body }) => bodies.get(id) !== body).map(({ id }) => `${id} changed its body`);
    const firsts = new Map<string, Post>();
    for (const post of posts) if (post.taken && !firsts.has(post.id)) firsts.set(post.id, post);
    const wanted = toldTo(listener, changes).map(({ id, entity }) => ({ id: webhookId(id, listener.id), entity }));
    const ids = new Set(wanted.map(({ id }) => id));
    const missing = wanted.filter(({ id }) => !firsts.has(id)).map(({ id }) => `${id} never came`);
    // That it lists a company is told too, once for each.
    const others = posts.filter(({ id }) => !ids.has(id)).map(({ id }) => id);
    const extra = new Set(others).size - (listener.events === undefined ? (listener.entities?.size ?? 0) : 0);
    const order = [...new Set(wanted.map(({ entity }) => entity))].flatMap((entity) => {
      const came = [...firsts.values()]
        .filter((post) => post.entity === entity && ids.has(post.id))
        .map(({ id }) => id);
      const should = wanted.filter((one) => one.entity === entity && firsts.has(one.id)).map(({ id }) => id);
      return came.join() === should.join() ? [] : [`${entity} came in another order`];
    });
    const wrong = [...changed, ...missing, ...order, ...(extra === 0 ? [] : [`${extra} posts that nobody expects`])];
    return wrong.map((one) => `${listener.id}: ${one}`);
  });
}
