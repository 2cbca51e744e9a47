/** Runs a plan in a world, and checks the world now and then. */
import { readDifferences } from '../../src/connector/history/differences.ts';
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { VALUE_SOURCE } from '../../src/connector/review/record-entries.ts';
import { resolveReview } from '../../src/connector/review/resolve.ts';
import { unpark } from '../../src/runtime/lanes/lane-state.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { perform } from './acts.ts';
import { endLasting } from './lasting.ts';
import { endLeaving } from './leaving.ts';
import { wrongMails } from './mails.ts';
import { readNews, wrongNews } from './news.ts';
import { unlistedEdits, unwatched, wrongNotices, wrongRecords } from './oracle.ts';
import type { CrmRecord } from './people.ts';
import { isCalm, type Step } from './plan.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

export interface Outcome {
  /** The step at which something was wrong, and what; undefined if all was well. */
  readonly failure: { readonly step: Step; readonly problems: readonly string[] } | undefined;
  /** Of all that happened. */
  readonly digest: string;
  readonly simulatedMs: number;
  readonly steps: number;
}

const MINUTE_MS = 60_000;
/** After the faults end, all is quiet within this time. */
const BOUND_MS = 3 * 60 * MINUTE_MS;

/** How often to look whether the daemon is idle. */
const LOOK_MS = 500;
const WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 10 * MINUTE_MS;
/** Work that is due later than this waits for the next whole five minutes, and is done together: most of it is polling. */
const SOON_MS = 30_000;
const TOGETHER_MS = 5 * MINUTE_MS;

/** Runs the steps of a plan until one fails, or until `isOver` says at a calm moment that there is no time for more. */
export async function simulate(
  options: WorldOptions,
  plan: readonly Step[],
  isOver: () => boolean = () => false,
): Promise<Outcome> {
  const world = await openWorld(options);
  const start = world.time.now();
  let failure: Outcome['failure'];
  let steps = 0;
  for (const step of plan) {
    const problems = await take(world, step, start);
    steps += 1;
    if (problems.length > 0) failure = { step, problems };
    if (failure !== undefined || (isCalm(step) && isOver())) break;
  }
  const simulatedMs = world.time.now() - start;
  await world.close();
  return { failure, digest: world.digest(), simulatedMs, steps };
}

/** Takes one step, and returns what is wrong with the world afterwards. */
async function take(world: World, step: Step, start: number): Promise<readonly string[]> {
  try {
    await runTo(world, start + step.at);
    await perform(world, step);
    if (world.machines.broken !== undefined) throw world.machines.broken;
    return isCalm(step) ? await lookAround(world) : [];
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

/** Lets the world run, asleep while nothing is due: a day in which nothing happens costs little. */
async function runTo(world: World, end: number): Promise<void> {
  let lookAt = 0;
  let behind = 0;
  await world.time.runTo(end, async () => {
    const { machines, time } = world;
    const now = time.now();
    if (machines.running().length === 0 || world.isUnderWay() || now < lookAt) return 0;
    lookAt = now + LOOK_MS;
    const due = await world.nextDue();
    // Amid work a leap would make each of its calls too late.
    if (due === 0) return 0;
    behind = due > now ? 0 : behind + 1;
    // What is due and not begun waits for something else, such as the end of an account's pause, perhaps for hours.
    if (behind > 5) return now + Math.min(WAIT_MS * 2 ** (behind - 6), LONGEST_WAIT_MS);
    return due > now + SOON_MS ? Math.ceil(due / TOGETHER_MS) * TOGETHER_MS : due;
  });
}

/** Ends all faults, waits until nothing is left to do, and asks the oracles. */
async function lookAround(world: World): Promise<readonly string[]> {
  const { time } = world;
  endFaults(world);
  await runTo(world, Math.max(time.now(), world.quietFrom) + 20 * MINUTE_MS);
  for (let tries = 0; tries < 20 && !(await endLeaving(world)); tries += 1)
    await runTo(world, time.now() + 10 * MINUTE_MS);
  if (world.leaving !== undefined) return [`${world.leaving.crm} is being left, and there is no end to it`];
  // What was only previewed is given up.
  if (world.undoing?.due === undefined) world.undoing = undefined;
  for (let tries = 0; tries < 20 && world.undoing !== undefined; tries += 1)
    await runTo(world, time.now() + 10 * MINUTE_MS);
  if (world.undoing !== undefined) return ['there is no end to an undo'];
  if (world.mayPark) await retryParked(world);
  const left = await untilQuiet(world);
  if (left.length > 0) return left;
  const touched = world.records.filter(({ isUnseen }) => isUnseen);
  for (const record of touched) record.isUnseen = false;
  const leftAfter = await lookAt(world, touched);
  if (leftAfter.length > 0) return leftAfter;
  const news = await readNews(world);
  const found = [
    ...world.wrong.splice(0),
    ...world.calls.takeExcess(),
    ...wrongNotices(world),
    ...(world.mail === undefined ? [] : wrongMails(world.mail.letters, world.receiver.posts)),
    ...(news === undefined ? [] : wrongNews(news, world.receiver.posts)),
    ...wrongRecords(world),
  ];
  const problems = found.length > 0 ? found : await wrongAfterLook(world);
  await noteHistory(world, problems);
  return problems;
}

function endFaults(world: World): void {
  world.network.calm();
  for (const acts of [world.afterRead, world.beforeWrite, world.afterWrite]) acts.clear();
  endLasting(world);
  for (const machine of world.machines.all) {
    machine.diesAfter = undefined;
    machine.daemon?.dieAt(Number.POSITIVE_INFINITY, 'after');
    if (machine.daemon !== undefined) world.sever?.(machine.daemon.owner, Number.POSITIVE_INFINITY);
  }
}

/** As an operator does after somebody mended what the CRM refused. */
async function retryParked(world: World): Promise<void> {
  world.mayPark = false;
  const { time } = world;
  await world.write(async (tx) => {
    const refused = await VALUE_SOURCE.read(tx, time.now(), 1_000, {});
    for (const { id } of refused) await resolveReview(tx, 'retry', { id }, time.now());
    const parked = await tx.selectFrom('lane').select(['queue', 'key']).where('parked_at', 'is not', null).execute();
    for (const { queue, key } of parked) await unpark(tx, queue, key, time.now());
  });
}

/** Has cvrsync look at records once more, until nothing is left to do; returns what is. */
async function lookAt(world: World, records: Iterable<CrmRecord>): Promise<readonly string[]> {
  await world.write(async (tx) => {
    for (const { crm, id } of records) await mark(tx, `sync:${crm}`, [id], world.time.now());
  });
  return untilQuiet(world);
}

/** What is wrong once every record was looked at. */
async function wrongAfterLook(world: World): Promise<readonly string[]> {
  const left = await lookAt(world, world.linked);
  if (left.length > 0) return left;
  const { time } = world;
  const { db } = world.store;
  const listed = await time.until(readDifferences(db, time.now(), {}, 1_000));
  const items = await time.until(db.selectFrom('item').select(['entity', 'record_id']).execute());
  return [...wrongRecords(world), ...unlistedEdits(world, listed), ...unwatched(world.linked, items)];
}

/** Notes in the trace what the store says of the records that problems name. */
async function noteHistory({ store, linked, note, time }: World, problems: readonly string[]): Promise<void> {
  const named = [...linked].filter(({ id }) => problems.some((problem) => problem.includes(id)));
  if (named.length === 0) return;
  const ids = named.map(({ id }) => id);
  const rows = await time.until(
    store.db.selectFrom('history').selectAll().where('record_id', 'in', ids).orderBy('id').execute(),
  );
  for (const { at, record_id, rule, outcome, lines } of rows)
    note(`  history ${new Date(at).toISOString()} ${record_id} ${rule} ${outcome} ${lines ?? ''}`);
}

/** What is still to do after the bound, as sentences. */
async function untilQuiet(world: World): Promise<readonly string[]> {
  const end = world.time.now() + BOUND_MS;
  for (;;) {
    const left = await whatIsLeft(world);
    if (left.length === 0) return [];
    if (world.machines.broken !== undefined) throw world.machines.broken;
    if (world.time.now() > end) return left.map((each) => `still to do after the faults: ${each}`);
    await runTo(world, world.time.now() + MINUTE_MS);
  }
}

const CLOCKED = new Set(['watch', 'poll', 'housekeeping', 'service-housekeeping', 'alerts']);

async function whatIsLeft({ machines, store: { db }, network, time }: World): Promise<readonly string[]> {
  if (machines.running().length < machines.all.length) return ['a daemon does not run'];
  const look = async (): Promise<readonly string[]> => {
    const arrives = await hasArrivals(db);
    const lanes = await db.selectFrom('lane').selectAll().orderBy('queue').execute();
    const deliveries = await db.selectFrom('delivery').select('seq').where('state', '=', 'due').execute();
    return [
      ...(arrives ? ['arrivals'] : []),
      ...lanes
        .filter(({ queue }) => !CLOCKED.has(queue))
        // The end of a hold, or a day after which a value that was refused is sent again.
        .filter(({ error, due_at }) => error !== null || due_at === null || due_at < time.now() + BOUND_MS)
        .map(
          ({ queue, key, error, parked_at }) => `${queue} ${key} ${error ?? ''}${parked_at === null ? '' : ', parked'}`,
        ),
      ...deliveries.map(({ seq }) => `delivery ${seq}`),
      ...(network.inFlight > 0 ? ['a request'] : []),
    ];
  };
  return time.until(look());
}
