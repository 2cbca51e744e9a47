/** Small trades, farms, practices, funds and associations of single towns, and what a sales rep types of them. */
import { addressIn, newRegister, type RegisterDraft } from './register-draft.ts';
import type { LabelledSet } from './set.ts';
import { addClub, addRare, COUNTRY_TRAPS, farmPlace } from './town-country.ts';
import { addTrade, commonPlace, person } from './town-draft.ts';
import { addFund, addHousingIn, SOCIETY_TRAPS } from './town-societies.ts';
import { CRAFT_TRAPS, freeCraftsman, SHOP_TRAPS } from './town-trades.ts';
import { TOWNS } from './town-words.ts';

const TRAPS = Object.entries({ ...SHOP_TRAPS, ...CRAFT_TRAPS, ...SOCIETY_TRAPS, ...COUNTRY_TRAPS });

/** Adds companies that no record means. */
function addBystander(register: RegisterDraft): void {
  const { random } = register;
  const kind = random.int(1, 20);
  if (kind === 1) addFund(register);
  else if (kind === 2) addHousingIn(register);
  else if (kind === 3) addClub(register);
  else if (kind <= 5) addRare(register);
  else if (kind <= 8) {
    const { farm, farmer, address } = farmPlace(register);
    const name = random.chance(0.5) ? farmer : `${farm} v/${farmer}`;
    register.add({ name, form: 'Enkeltmandsvirksomhed', address });
  } else if (kind <= 10) {
    const { surname, craft, town } = freeCraftsman(register);
    const firm = `${craft.master} v/${person(random).split(' ')[0]} ${surname}`;
    register.add({ name: firm, form: 'Enkeltmandsvirksomhed', address: addressIn(random, town) });
  } else if (kind === 11) {
    const name = `${person(random)} Holding ApS`;
    register.add({ name, form: 'ApS', address: addressIn(random, random.pick(TOWNS)) });
  } else {
    const { name, town } = commonPlace(register);
    addTrade(register, town, name);
  }
}

/** Each trap equally often. */
export function townRegisters(seed: number, records: number): LabelledSet {
  const register = newRegister(seed);
  const made = Array.from({ length: records }, (_, index) => {
    const [trap, make] = TRAPS[index % TRAPS.length] ?? ['', () => undefined];
    const record = make(register);
    if (record === undefined) return [];
    const number = register.random.chance(0.1) ? { number: register.random.pick(['n/a', 'ukendt', '-', '0', '']) } : {};
    return [{ trap, ...record, record: { ...record.record, ...number } }];
  });
  while (register.size() < records * 4) addBystander(register);
  return { name: 'town registers', entries: register.entries(), records: made.flat() };
}
