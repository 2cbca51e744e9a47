/** A labelled set is drawn from traps, each as often as the next. */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { fill } from './filler.ts';
import type { LabelledSet, SetRecord } from './set.ts';
import { World } from './world.ts';

/** What a trap puts into a CRM, and the company that it means; null if a careful person would name no company. */
export interface Drawn {
  readonly record: RecordText;
  readonly meant: IndexEntry | null;
}

/** Plants companies into the register, and draws a record. */
export type Trap = (world: World) => Drawn;

/** A name in small letters or capitals, or with blanks that nobody sees; what a machine wrote stays. */
function carelessly({ random }: World, record: RecordText): RecordText {
  const { name } = record;
  if (name == null || name.includes(';') || name === name.toUpperCase() || random.chance(0.75)) return record;
  const typed = random.pick([
    name.toLowerCase(),
    name.toUpperCase(),
    `${name} `,
    name.replace(' ', '  '),
    name.replace(' ', '\u00a0'),
  ]);
  return { ...record, name: typed };
}

/** Of each record four companies are in the register. */
const COMPANIES_PER_RECORD = 4;

export function drawSet(
  name: string,
  traps: Readonly<Record<string, Trap>>,
  of: { seed: number; records: number },
): LabelledSet {
  const world = new World(of.seed);
  const list = Object.entries(traps);
  const records: SetRecord[] = [];
  while (records.length < of.records)
    for (const [trap, draw] of list.slice(0, of.records - records.length)) {
      const { record, meant } = draw(world);
      records.push({
        trap,
        record: carelessly(world, record),
        company: meant?.company ?? null,
        hasEnded: (meant?.ended ?? null) !== null,
      });
    }
  fill(world, of.records * COMPANIES_PER_RECORD);
  return { name, entries: world.entries, records };
}
