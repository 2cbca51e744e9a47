/** A register that grows, faults everywhere, and SIGKILLs: both CRMs and all who listen end with what the register says. */
import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { daemonWith } from '../support/daemon.ts';
import { ENGINES, emptyStoreUrl } from '../support/stores.ts';
import { type ChainOptions, openChain } from './chain.ts';
import { editSome } from './records.ts';
import { FULL, NIGHT, SEED } from './settings.ts';
import { strikesOn } from './strikes.ts';

/** Fewer than there are records to be linked late and changes to be written. */
const MOST_WRITTEN = 20;

interface StruckChain extends Omit<ChainOptions, 'seed'> {
  readonly engine: 'sqlite' | 'postgres';
  /** How often the daemon is struck while documents come, while listeners are told, and while records are written. */
  readonly strikes: { readonly reported: number; readonly posted: number; readonly written: number };
}

const SMALL = {
  companies: 6,
  changes: 60,
  listeners: 20,
  faults: 1,
  strikes: { reported: 1, posted: 1, written: 1 },
};
const LARGE = {
  companies: 20,
  changes: 220,
  listeners: 200,
  faults: 5,
  strikes: { reported: 2, posted: 2, written: 1 },
};

describe.runIf(NIGHT)(`the chain, CVRSYNC_CHAOS_SEED=${SEED}`, () => {
  // On PostgreSQL several daemons have such a chain: see fleet.test.ts and roles.test.ts.
  test.each(FULL ? ENGINES : (['sqlite'] as const))(
    'on %s all end with what the register says, and nothing is told twice as two',
    (engine) => run({ engine, ...(FULL ? LARGE : SMALL) }),
  );
});

async function run({ engine, strikes: wanted, ...options }: StruckChain): Promise<void> {
  const random = randomFrom(SEED);
  const chain = await openChain(await emptyStoreUrl(engine), { ...options, seed: SEED }, random);
  const { config, crms, records, receiver } = chain;
  const daemon = await daemonWith(config);
  await daemon.start();

  const times = (number: number, most: number) =>
    Array.from({ length: number }, () => random.int(Math.ceil(most / 10), Math.floor((most * 2) / 3))).sort(
      (a, b) => a - b,
    );
  const strikes = strikesOn(
    daemon,
    crms,
    {
      reported: times(wanted.reported, chain.lines),
      posted: times(wanted.posted, chain.posts),
      written: times(wanted.written, MOST_WRITTEN),
    },
    (strike) => editSome(crms, records, random, strike),
  );

  // Records that hold what the register said first are linked, and written, before it says anything else.
  await chain.begin();
  for (const crm of [crms.hubspot, crms.salesforce]) crm.onWrite = () => strikes.count('written');
  receiver.onPost = () => strikes.count('posted');
  await chain.tellRest((lines) => strikes.count('reported', lines));
  await strikes.ended();
  await chain.atRest();
  await strikes.ended();
  expect(strikes.done).toBe(wanted.reported + wanted.posted + wanted.written);
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  await chain.verify();
}
