/** Which calls untidy CRMs refuse in bulk, and how late they answer: scripted, so that all of it ends. */
import type { Random } from '../../src/protocol/sample/random.ts';
import type { Crms } from '../support/fixture.ts';
import type { Sample } from '../support/sample-stream.ts';
import type { CrmRecord } from './records.ts';

/** Calls of more records than that break a trigger's limits. */
const MOST_IN_A_CALL = 4;

/**
 * Refuses in bulk: a trigger that large calls break, one that meets locked rows, one that throws for a record, and a
 * firewall that does not let some bodies pass. Returns what mends the record that is thrown for.
 */
export function refuseInBulk({ hubspot, salesforce }: Crms, records: readonly CrmRecord[], random: Random): () => void {
  const accounts = records.filter(({ crm }) => crm === 'salesforce').map(({ id }) => id);
  const poison = accounts[random.int(0, accounts.length - 1)];
  salesforce.trigger({ kind: 'queries', over: MOST_IN_A_CALL });
  salesforce.trigger({ kind: 'locks', on: () => true, times: 5 });
  const mend = salesforce.trigger({ kind: 'throws', on: ({ id }) => id === poison });
  for (const { id } of records.filter(({ crm }) => crm === 'hubspot').filter(() => random.chance(0.1)))
    hubspot.fault({
      match: 'batch/update$',
      body: id,
      times: random.int(1, 2),
      action: { kind: 'status', status: random.pick([403, 413]), body: '<html>Request blocked</html>' },
    });
  return mend;
}

/** Has some companies report in euro, all through. */
export function inEuros(samples: readonly Sample[], random: Random): readonly Sample[] {
  const entities = [...new Set(samples.map(({ payload }) => payload.entityId))];
  const chosen = new Set(entities.filter(() => random.chance(0.4)));
  return samples.map((sample) =>
    chosen.has(sample.payload.entityId) ? JSON.parse(JSON.stringify(sample).replaceAll('"DKK"', '"EUR"')) : sample,
  );
}

/** Answers reads late: what they say is up to seconds old when it arrives. */
export function answerLate({ hubspot, salesforce }: Crms, random: Random, count: number): void {
  for (let made = 0; made < count; made++) {
    const [after, ms] = [random.int(0, 20), random.int(500, 3_000)];
    const action = { kind: 'slow', ms, at: 'start' } as const;
    hubspot.fault({ match: 'POST .*/batch/read$', after, action });
    salesforce.fault({ match: 'POST .*/composite/sobjects/Account$', after, action });
  }
}
