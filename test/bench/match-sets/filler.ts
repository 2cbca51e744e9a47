/** The companies of a register that no record of a labelled set means. */
import * as from from './words.ts';
import type { Part, Place, World } from './world.ts';

type Kind = (world: World) => Part;

/** A name of somebody's trade that no record means. */
function firmName(world: World): string {
  const isRegional = world.random.chance(0.15);
  const first = isRegional ? world.random.pick(from.REGIONS) : world.surname();
  const trade = world.random.pick(from.TRADES);
  if (world.isClaimed(`firm ${first} ${trade}`)) return firmName(world);
  return isRegional ? `${first} ${trade}` : world.firmName(first, trade);
}

const initials = (world: World): string =>
  [1, 2, 3].map(() => world.random.pick([...'ABCDEFGHJKLMNOPRST'] as [string, ...string[]])).join('');

function eatery(world: World): Part {
  const address = world.place();
  const name = `${world.random.pick(from.PLACES_TO_EAT)} ${world.random.pick(from.EATERY_NAMES)}`;
  return world.isClaimed(`eatery ${name} ${address.city}`) ? eatery(world) : { name, address };
}

const soleProprietor: Kind = (world) => ({
  name: `${firmName(world)}${world.random.chance(0.5) ? ` v/${world.person()}` : ''}`,
  form: 'Enkeltmandsvirksomhed',
});

/** At the last company's address, as holdings are. */
const holding: Kind = (world) => {
  const { address = null } = world.entries.at(-1) ?? {};
  const name = world.random.pick([
    `${initials(world)} Holding`,
    `${world.surname()} Holding ${world.random.int(2004, 2024)}`,
    `${world.person()} Holding`,
    `${initials(world)} Invest`,
    `Ejendomsselskabet ${world.place().street.replace(/,.*$/u, '')}`,
  ]);
  return { name, form: 'ApS', phone: null, website: null, ...(world.random.chance(0.5) ? { address } : {}) };
};

const association: Kind = (world) => {
  const [village, estate] = [world.random.pick(from.VILLAGES), world.random.pick(from.HOUSING)];
  const name = world.random.pick([
    `Andelsboligforeningen ${estate} ${village}`,
    `Grundejerforeningen ${estate}, ${village}`,
    `${village} Vandværk A.m.b.a.`,
    `${village} Borgerforening`,
    `${village} Antenneforening`,
  ]);
  return { name, form: 'Forening', website: null };
};

const OFFICE_HOTELS: readonly [Place, ...Place[]] = [
  { street: 'Lyskær 8B, 2.', postalCode: '2730', city: 'Herlev' },
  { street: 'Frederiksborggade 15, 3.', postalCode: '1360', city: 'København K' },
  { street: 'Åboulevarden 31', postalCode: '8000', city: 'Aarhus C' },
];
export const officeHotel = (world: World): Place => world.random.pick(OFFICE_HOTELS);

const KINDS: readonly [Kind, ...Kind[]] = [
  soleProprietor,
  soleProprietor,
  soleProprietor,
  (world) => ({ name: firmName(world) }),
  (world) => ({ name: firmName(world) }),
  (world) => ({ name: world.brandName() }),
  (world) => ({ name: world.brandName(), form: 'ApS', address: officeHotel(world) }),
  holding,
  holding,
  association,
  eatery,
];

/** Fills the register up to a count of entries; some have moved, some were renamed, some have ended. */
export function fill(world: World, count: number): void {
  const { random } = world;
  while (world.entries.length < count) {
    const part = random.pick(KINDS)(world);
    const entry = world.plant({
      ...part,
      formerNames: random.chance(0.1) ? [{ value: firmName(world), until: world.day(2006, 2025) }] : [],
      formerAddresses: random.chance(0.25) ? [{ value: world.place(), until: world.day(2006, 2025) }] : [],
      ended: random.chance(0.15) ? world.day(2008, 2026) : null,
    });
    if (random.chance(0.06)) world.unit(entry, { name: entry.name, address: world.place() });
  }
}
