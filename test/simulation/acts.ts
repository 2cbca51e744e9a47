/** What each step of a plan does to the world. A step that finds nothing to do does nothing. */
import { readDifferences, settleDifference } from '../../src/connector/history/differences.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { clearOverride, setOverride } from '../../src/connector/overrides/override.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import type { Tx } from '../../src/store/store.ts';
import { togetherWith } from '../chaos/records.ts';
import { merge, remove, restore, unlink } from './fates.ts';
import { changeSchema, disorder, fillDisk, refuseInBulk, revoke, showInPart, spendCalls, stale } from './lasting.ts';
import { isLeft, leaveOrReturn } from './leaving.ts';
import { MAIL_HOST } from './mail.ts';
import { type Act, anyOf, MEETINGS } from './meetings.ts';
import {
  type CrmRecord,
  followPolicies,
  giveUp,
  keepAsItIs,
  letGo,
  PROPERTIES,
  policyOf,
  writeByHand,
} from './people.ts';
import type { Step, StepKind } from './plan.ts';
import { changePolicy } from './policies.ts';
import { isUnderWay } from './quiet.ts';
import { daemonOf, die, freeze, kill, LATE_CALLS_MS, outage } from './stops.ts';
import { undo } from './undoing.ts';
import type { RegisterCompany, World } from './world.ts';

const CRMS = ['hubspot', 'salesforce'] as const;
const MINUTE_MS = 60_000;

export function perform(world: World, step: Step): Promise<void> | void {
  world.note(`step ${step.place} ${step.kind}`);
  return ACTS[step.kind](world, randomFrom(step.seed), step);
}

const ACTS: Readonly<Record<StepKind, Act>> = {
  ...MEETINGS,
  change(world, random) {
    const { document, company } = world.nextDocument();
    const known = world.companies.get(company.entityId);
    if (known === undefined) return;
    known.past.push({ document: known.document, company: known.company });
    state(world, known, { document, company }, random);
  },
  /** The register loads a document again that says nothing new. */
  repeat(world, random) {
    const known = anyOf([...world.companies.values()], random);
    if (known !== undefined) state(world, known, known, random);
  },
  /** The register takes its last change back. */
  withdraw(world, random) {
    const known = anyOf(companiesWithPast(world), random);
    const former = known?.past.pop();
    if (known !== undefined && former !== undefined) state(world, known, former, random);
  },
  edit(world, random, { place }) {
    const record = anyOf(world.records, random);
    if (record !== undefined) writeWords(world, record, random, place);
  },
  /** A person edits a record right after somebody read it, and before what was read comes back, or right before a write. */
  race(world, random, { place }) {
    const record = anyOf([...world.linked], random);
    if (record === undefined) return;
    const moment = random.chance(0.5) ? world.afterRead : world.beforeWrite;
    moment.set(record.id, () => {
      if (world.records.includes(record)) writeWords(world, record, random, place);
    });
  },
  putBack(world, random) {
    const record = anyOf(
      world.records.filter(({ before }) => before.size > 0),
      random,
    );
    for (const [property, value] of record?.before ?? [])
      if (record !== undefined) writeByHand(world, record, { property, value, wording: 'register' });
  },
  clear(world, random) {
    const record = anyOf(world.records, random);
    if (record === undefined) return;
    writeByHand(world, record, { property: PROPERTIES[record.crm].phone, value: null, wording: 'blank' });
  },
  link(world, random) {
    const record = anyOf(
      world.records.filter((each) => !world.linked.has(each)),
      random,
    );
    return record && link(world, record);
  },
  /** A record whose name a person wrote, or none did: what the register said in passing may be unknown to cvrsync. */
  add(world, random, { place }) {
    const known = anyOf([...world.companies.values()], random);
    if (known === undefined) return;
    const crm = random.pick(CRMS);
    const { entityId: entity } = known.company;
    const { name } = PROPERTIES[crm];
    const own = crm === 'salesforce' ? [[name, `Ida's own ${place}`] as const] : [];
    const id = world[crm].add(Object.fromEntries(own));
    const record = {
      ...{ crm, id, entity, isUnseen: false },
      edits: new Map(own),
      before: new Map(),
      theirs: new Set(own.map(([property]) => property)),
      held: new Set<string>(),
      given: new Map(),
    };
    world.records.push(record);
    return link(world, record);
  },
  remove,
  restore,
  unlink,
  merge,
  leave: leaveOrReturn,
  undo,
  policy: changePolicy,
  hold: (world, random) =>
    withQuiet(world, random, async (tx, record) => {
      const property = PROPERTIES[record.crm][random.pick(['name', 'phone'] as const)];
      if (record.held.has(property)) return () => undefined;
      const hold = { kind: 'hold', once: false, until: null, reason: null } as const;
      await setOverride(tx, { provider: record.crm, recordId: record.id, property }, hold, world.time.now());
      return () => {
        record.held.add(property);
        keepAsItIs(world, record, [property]);
      };
    }),
  letGo: (world, random) =>
    withQuiet(
      world,
      random,
      async (tx, record) => {
        const [property] = record.held;
        if (property === undefined) return () => undefined;
        // An undo holds each part of an address.
        for (const each of togetherWith(record.crm, property)) {
          const place = { provider: record.crm, recordId: record.id, property: each };
          await clearOverride(tx, place, 'hold', world.time.now());
        }
        return () => letGo(world, record, property);
      },
      ({ held }) => held.size > 0,
    ),
  accept: (world, random) => answer(world, random, 'register', (record, property) => giveUp(world, record, property)),
  keep: (world, random) => answer(world, random, 'crm', (record, property) => record.held.add(property)),
  troubleCrm: (world, random) => trouble(world, random, random.pick(CRMS)),
  troubleRegister: (world, random) => trouble(world, random, 'register'),
  troubleReceiver(world, random) {
    trouble(world, random, 'receiver');
    if (world.mail !== undefined) trouble(world, random, MAIL_HOST);
  },
  troubleDaemon: (world, random) => trouble(world, random, 'daemon'),
  partial: showInPart,
  disorder,
  stale,
  disk: fillDisk,
  spent: spendCalls,
  token: revoke,
  refuse: refuseInBulk,
  schema: changeSchema,
  locks(world, random) {
    world.salesforce.trigger({ kind: 'locks', on: () => true, times: random.int(1, 8) });
  },
  die,
  kill,
  outage,
  stop: (world, random) => void daemonOf(world, random)?.stop(),
  freeze,
  clock(world, random) {
    const machine = anyOf(world.machines.all, random);
    if (machine === undefined) return;
    machine.skew = random.int(-4 * MINUTE_MS, 4 * MINUTE_MS);
    // Daemons space calls by one clock: those of machines whose clocks differ come as they come.
    const isAlone = world.machines.all.length === 1;
    world.calls.excuse(isAlone ? world.time.now() + LATE_CALLS_MS : Number.POSITIVE_INFINITY);
  },
  calm: () => undefined,
};

type State = Pick<RegisterCompany, 'document' | 'company'>;

/** The register states a company; its document becomes findable some minutes after the time of loading. */
function state(world: World, known: RegisterCompany, { document, company }: State, random: Random): void {
  const loadedAt = Math.max(known.loadedAt + 1, world.time.now() - random.int(0, 4 * MINUTE_MS));
  Object.assign(known, { document, company, loadedAt });
  world.note(`  the register states ${company.entityId}`);
  world.register.put(document, loadedAt);
}

/** Requests to a host meet a trouble for some minutes. */
function trouble({ network, time, troubles }: World, random: Random, host: string): void {
  const until = time.now() + random.pick([1, 5, 20]) * MINUTE_MS;
  const what = anyOf(troubles, random);
  if (what !== undefined) network.disturb(host, what, random.pick([0.2, 0.5, 1]), until);
}

/** A person writes words of their own. */
function writeWords(world: World, record: CrmRecord, random: Random, place: number): void {
  const kind = random.pick(['name', 'phone', 'city'] as const);
  const value = kind === 'phone' ? `+45 99${100_000 + place}` : `Bo's ${place} ${record.id.slice(-6)}`;
  world.note(`  a person writes ${value} into ${record.crm} ${record.id}`);
  writeByHand(world, record, { property: PROPERTIES[record.crm][kind], value, wording: 'text' });
}

const companiesWithPast = (world: World): readonly RegisterCompany[] =>
  [...world.companies.values()].filter(({ past }) => past.length > 0);

async function link(world: World, record: CrmRecord): Promise<void> {
  if (isLeft(world, record)) return;
  const { crm, id, entity } = record;
  const desired = { provider: crm, recordId: id, entity, sendUpdate: true, now: world.time.now() };
  if ((await world.write((tx) => linkRecord(tx, desired))) === undefined) return;
  world.linked.add(record);
  followPolicies(world, record);
}

type Remember = () => unknown;

/** Decides on a record at a moment in which nothing is on its way to it: else a write that left before counts as before. */
async function withQuiet(
  world: World,
  random: Random,
  decide: (tx: Tx, record: CrmRecord) => Promise<Remember>,
  fits: (record: CrmRecord) => boolean = () => true,
): Promise<void> {
  const record = anyOf([...world.linked].filter(fits), random);
  if (record === undefined || world.network.inFlight > 0 || isLeft(world, record)) return;
  const work = async (tx: Tx): Promise<Remember> => {
    const queues = [`sync:${record.crm}`, `edits:${record.crm}`];
    const isBusy = await isUnderWay(tx, queues, world.time.now(), [record.id]);
    return isBusy ? () => undefined : decide(tx, record);
  };
  (await world.write(work))?.();
}

/** A person answers a difference as they see it. */
async function answer(
  world: World,
  random: Random,
  winner: 'register' | 'crm',
  remember: (record: CrmRecord, property: string) => unknown,
): Promise<void> {
  const now = world.time.now();
  const work = async (tx: Tx): Promise<Remember> => {
    const found = anyOf(await readDifferences(tx, now, {}, 100), random);
    const record = world.records.find(({ crm, id }) => crm === found?.provider && id === found.recordId);
    if (found === undefined || record === undefined || isLeft(world, record)) return () => undefined;
    // By another policy the answer may change nothing.
    if (policyOf(world, record.crm, found.property) !== 'tracked') return () => undefined;
    const shown = JSON.stringify(world[record.crm].get(record.id)?.[found.property] ?? null);
    if (shown !== found.crm || !record.edits.has(found.property)) return () => undefined;
    const settled = await settleDifference(tx, found, winner, now);
    return () => settled !== 'none' && settled !== 'held' && remember(record, found.property);
  };
  (await world.write(work))?.();
}
