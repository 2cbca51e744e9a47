/** Writes values to records and reads them back. */
import type { Property, PropertyValue } from '../../../provider.ts';
import { brief, insist, insistList, insistSame } from './insist.ts';
import { type Lab, live, of } from './lab.ts';

export const valuesOf = async (
  lab: Lab,
  id: string,
  names: readonly string[],
): Promise<Readonly<Record<string, PropertyValue>>> => {
  const read = of(await lab.read([id], names), id);
  insist(read?.kind === 'found', `a live record was read as ${brief(read)}`);
  return read.properties;
};

/** Writes values to one record, and insists that the CRM stores and returns them unchanged. */
export async function roundTrip(lab: Lab, values: Readonly<Record<string, PropertyValue>>): Promise<void> {
  const [id = ''] = lab.ids;
  const outcome = of(await lab.write([id], values), id);
  insist(outcome?.kind === 'written', `they came back as ${brief(outcome)}`);
  for (const [name, value] of Object.entries(values))
    insistSame(lab.held(id, name), value, `the value of ${name} in the CRM`);
  if (lab.subject.lacks?.read !== undefined) return;
  const back = await valuesOf(lab, id, Object.keys(values));
  for (const [name, value] of Object.entries(values)) insistSame(back[name], value, `${name}, read again`);
}

export async function described(lab: Lab, name: string): Promise<Property | undefined> {
  const all = insistList(await lab.connection.properties(live()), 'properties');
  return all.find((property) => property.name === name);
}
