/** An operator accepts another policy for a property while the daemons run, and what people wrote there counts by it. */
import { acceptRules, readAllAccepted } from '../../src/connector/rules/accepted.ts';
import { rulesDigest } from '../../src/connector/rules/rules.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { Tx } from '../../src/store/store.ts';
import { followPolicies, type Policy, PROPERTIES } from './people.ts';
import { isUnderWay } from './quiet.ts';
import type { World } from './world.ts';

const OF_PHONES = ['tracked', 'never', 'left out'] as const;
const POLICIES = ['always', ...OF_PHONES] as const;

/** Accepts a former version, as after a rollback: then the file of the daemons is set aside. */
export async function changePolicy(world: World, random: Random): Promise<void> {
  const crm = random.pick(['hubspot', 'salesforce'] as const);
  const kind = random.pick(['name', 'phone'] as const);
  const property = PROPERTIES[crm][kind];
  // What the register never stated, such as a phone number, replaces nothing.
  const policy = random.pick(kind === 'name' ? POLICIES : OF_PHONES);
  if (world.leaving !== undefined || world.network.inFlight > 0) return;
  const accepted = await world.write((tx) => accept(tx, world, { crm, property, policy }));
  if (accepted !== true) return;
  world.note(`  ${crm} ${property} is ${policy} from now on`);
  world.policies.set(`${crm} ${property}`, policy);
  for (const record of world.linked) if (record.crm === crm) followPolicies(world, record);
}

/** False while a record is being decided: which policy counts for it is another matter. */
async function accept(
  tx: Tx,
  { time, rules }: World,
  { crm, property, policy }: { crm: 'hubspot' | 'salesforce'; property: string; policy: Policy },
): Promise<boolean> {
  const queues = ['sync', 'edits', 'heal', 'undo', 'leave'].map((kind) => (kind === 'undo' ? kind : `${kind}:${crm}`));
  const file = rules.find(({ name }) => name === crm);
  const former = (await readAllAccepted(tx)).get(crm)?.rules;
  if ((await isUnderWay(tx, queues, time.now())) || file === undefined || former === undefined) return false;
  // The file has every row.
  const mapping = file.mapping.flatMap((row) => {
    if (row.property !== property) return former.mapping.find((each) => each.property === row.property) ?? [];
    return policy === 'left out' ? [] : { ...row, policy };
  });
  await acceptRules(tx, { name: crm, ...former, mapping }, { by: 'Ida', now: time.now(), aside: rulesDigest(file) });
  return true;
}
