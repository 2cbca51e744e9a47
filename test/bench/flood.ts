/** The same flood of webhooks at several servers, in turns: a busy machine slows all. */
import { openChild } from './child.ts';
import type { verbs as Load, Posted, Target } from './load.ts';

const ROUNDS = 5;
const SECONDS = 2.5;
const CONNECTIONS = 64;
/** More than a round can take: each event is sent once. */
const EVENTS = 40_000;
const COMPANIES = { first: 20_000_000, step: 1, count: 10_000 };

/** A connection that nothing calls: none of the companies is linked. */
export const NO_CRM = { hubspot: { use: 'hubspot', accessToken: 'none', baseUrl: 'http://127.0.0.1:9' } };

export const perSecond = ({ acked, ms }: Posted): number => (acked * 1_000) / ms;

/** Floods each server in every round. `settle` is awaited after a round. What is not taken is thrown. */
export async function floodInTurns(
  servers: readonly Target[],
  settle: () => Promise<void>,
): Promise<readonly (readonly Posted[])[]> {
  const load = openChild<typeof Load>('./load.ts');
  const rounds: Posted[][] = [];
  for (let at = 0; at <= ROUNDS; at++) {
    await load.ask('prepare', { companies: COMPANIES, from: at * EVENTS, count: EVENTS });
    const round: Posted[] = [];
    for (const target of servers) {
      const posted = await load.ask('flood', { target, connections: CONNECTIONS, seconds: SECONDS });
      if (posted.failed > 0) throw new Error(`${target.origin}: ${posted.failed} events were not taken`);
      round.push(posted);
    }
    rounds.push(round);
    await settle();
  }
  await load.close();
  // The first round warms all up and is not counted.
  return servers.map((_, server) => rounds.slice(1).flatMap((round) => round[server] ?? []));
}
