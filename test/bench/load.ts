/** The load generator: a process of its own that posts webhooks over keep-alive connections, one at a time on each. */
import { type Dispatcher, Pool } from 'undici';
import { bodyAt, type Companies, entityAt } from './bodies.ts';
import { answerWith } from './child.ts';
import { quantile } from './measure.ts';

export interface Target {
  /** Origin of the server. */
  readonly origin: string;
  readonly path: string;
}

/** What was answered. Latencies in ms. */
export interface Posted {
  readonly acked: number;
  readonly failed: number;
  readonly ms: number;
  readonly p50: number;
  readonly p99: number;
}

let bodies: Buffer[] = [];
let entities: string[] = [];

export const verbs = {
  /** Makes the bodies of the events `from` to `from + count`, for the next run. */
  prepare({ companies, from, count }: { companies: Companies; from: number; count: number }): void {
    bodies = Array.from({ length: count }, (_, at) => bodyAt(companies, from + at));
    entities = Array.from({ length: count }, (_, at) => entityAt(companies, from + at));
  },
  /** Posts all, or for some seconds as many as fit, as fast as the connections are answered. */
  async flood({
    target,
    connections,
    seconds,
  }: {
    target: Target;
    connections: number;
    seconds?: number;
  }): Promise<Posted> {
    const pool = openPool(target, connections);
    const began = performance.now();
    const end = began + (seconds ?? Number.POSITIVE_INFINITY) * 1_000;
    const times: number[] = [];
    let next = 0;
    let failed = 0;
    const keepPosting = async (): Promise<void> => {
      while (next < bodies.length && performance.now() < end) {
        const sent = performance.now();
        const status = await post(pool, target.path, bodies[next++]);
        if (status >= 200 && status < 300) times.push(performance.now() - sent);
        else failed += 1;
      }
    };
    await Promise.all(Array.from({ length: connections }, keepPosting));
    const ms = performance.now() - began;
    await pool.close();
    return { acked: times.length, failed, ms, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
  },
  /** Posts all at a steady rate, answered or not, and says when each company's event was sent, in ms since 1970. */
  async drip({ target, perSecond }: { target: Target; perSecond: number }): Promise<ReadonlyMap<string, number>> {
    const pool = openPool(target, 16);
    const began = performance.now();
    const answers: Promise<number>[] = [];
    const sent = new Map<string, number>();
    for (const [at, body] of bodies.entries()) {
      const wait = began + (at * 1_000) / perSecond - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      sent.set(entities[at] ?? '', performance.timeOrigin + performance.now());
      answers.push(post(pool, target.path, body));
    }
    const refused = (await Promise.all(answers)).filter((status) => status !== 204);
    await pool.close();
    if (refused.length > 0) throw new Error(`${refused.length} events were not taken: ${refused[0]}`);
    return sent;
  },
};

const openPool = ({ origin }: Target, connections: number): Pool => new Pool(origin, { connections, pipelining: 1 });

const HEADERS = { 'content-type': 'application/json' };

/** Resolves with the status. Below undici's `request`: its body stream would cost more than the server's work. */
function post(pool: Pool, path: string, body: Buffer | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData() {},
      onResponseEnd: () => resolve(status),
      onResponseError: (_controller, error) => reject(error),
    };
    pool.dispatch({ method: 'POST', path, headers: HEADERS, body: body ?? null }, handler);
  });
}

answerWith(verbs);
