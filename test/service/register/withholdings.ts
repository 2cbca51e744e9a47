/** The ways in which a register may stop serving a part of a document. */
import { isJsonObject, type JsonObject } from '../../../src/protocol/text/json.ts';

/** A document's content, with a part of it withheld. */
export type Withhold = (content: JsonObject) => JsonObject;

/** What names a document, and says when it was loaded: without these it is none. */
const NEEDED: readonly string[] = ['cvrNummer', 'pNummer', 'sidstIndlaest'];

const without = (content: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(content).filter(([name]) => name !== key));

const objectsIn = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);

const nameOf = (organisation: JsonObject): string => {
  const [named] = objectsIn(organisation['organisationsNavn']);
  return `${String(organisation['hovedtype'])} ${String(named?.['navn'])}`;
};

/** A document's relations with each organisation as it is now, or left out. */
const organisations = (
  content: JsonObject,
  change: (organisation: JsonObject) => JsonObject | undefined,
): JsonObject => ({
  ...content,
  deltagerRelation: objectsIn(content['deltagerRelation']).map((relation) => ({
    ...relation,
    organisationer: objectsIn(relation['organisationer']).flatMap((each) => change(each) ?? []),
  })),
});

/** Lists that may be empty: without an entry they say that the register deleted what was in them. */
const OFTEN_EMPTY: readonly string[] = [
  ...['binavne', 'bibranche1', 'bibranche2', 'bibranche3'],
  ...['elektroniskPost', 'telefaxNummer', 'telefonNummer', 'hjemmeside', 'penheder'],
];

/** By name, for one document: each of its sections, attributes and organisations left out, emptied, or null. */
export function withholdings(content: JsonObject): ReadonlyMap<string, Withhold> {
  const ways = new Map<string, Withhold>();
  for (const [key, value] of Object.entries(content)) {
    if (NEEDED.includes(key)) continue;
    ways.set(`${key} left out`, (all) => without(all, key));
    ways.set(`${key} null`, (all) => ({ ...all, [key]: null }));
    if (Array.isArray(value) && !OFTEN_EMPTY.includes(key)) ways.set(`${key} empty`, (all) => ({ ...all, [key]: [] }));
    if (isJsonObject(value)) ways.set(`${key} empty`, (all) => ({ ...all, [key]: {} }));
  }
  ways.set('names of nothing', (all) => ({
    ...all,
    navne: objectsIn(all['navne']).map((each) => ({ ...each, navn: null })),
  }));
  for (const { type } of objectsIn(content['attributter'])) {
    const others = (all: JsonObject) => objectsIn(all['attributter']).filter((each) => each['type'] !== type);
    ways.set(`attribute ${String(type)} left out`, (all) => ({ ...all, attributter: others(all) }));
    ways.set(`attribute ${String(type)} empty`, (all) => ({
      ...all,
      attributter: [...others(all), { type, vaerdier: [] }],
    }));
  }
  const names = objectsIn(content['deltagerRelation']).flatMap(({ organisationer }) =>
    objectsIn(organisationer).map(nameOf),
  );
  for (const name of new Set(names)) {
    const only = (change: Withhold | undefined) => (all: JsonObject) =>
      organisations(all, (each) => (nameOf(each) === name ? change?.(each) : each));
    ways.set(`${name} left out`, only(undefined));
    // A partner without any data is one: there an empty list is a statement.
    if (!name.startsWith('FULDT_ANSVARLIG'))
      ways.set(
        `${name} without its members' data`,
        only((each) => ({ ...each, medlemsData: [] })),
      );
    ways.set(`${name} of nobody`, (all) => ({
      ...all,
      deltagerRelation: objectsIn(all['deltagerRelation']).map((relation) =>
        objectsIn(relation['organisationer']).some((each) => nameOf(each) === name)
          ? { ...relation, deltager: null }
          : relation,
      ),
    }));
  }
  ways.set('participants without names', (all) => ({
    ...all,
    deltagerRelation: objectsIn(all['deltagerRelation']).map(({ deltager, ...relation }) => ({
      ...relation,
      deltager: isJsonObject(deltager) ? { ...deltager, navne: [] } : deltager,
    })),
  }));
  return ways;
}
