import type { PropertyValue } from '../../provider.ts';
import type { Apis } from '../client/client.ts';
import type { Definition } from './properties.ts';
import { fromHubspot } from './values.ts';

/** The account's company properties, as a connection remembers them; the first use costs one call. */
export interface HubspotSchema {
  read(apis: Apis): Promise<readonly Definition[]>;
  /** The definition as last read; reads again if it is not there. */
  definition(apis: Apis, name: string): Promise<Definition | undefined>;
  /** Converts texts to values by the account's types; the result has every requested name. */
  valuesOf(apis: Apis, names: readonly string[]): Promise<ToValues>;
  /** Converts the texts that are there, by the definitions known so far; without any it returns nothing. */
  shownOf(texts: HubspotTexts, names: readonly string[]): Readonly<Record<string, PropertyValue>>;
}

type HubspotTexts = Readonly<Record<string, string | null>>;

export type ToValues = (texts: HubspotTexts) => Readonly<Record<string, PropertyValue>>;

export function openSchema(): HubspotSchema {
  let known: ReadonlyMap<string, Definition> | undefined;
  const read = async (apis: Apis) => {
    // The client's class leaves out how a number is shown. The exchange has checked that each result has a name.
    const { body } = await apis.get('/crm/v3/properties/companies?archived=false');
    const live = (body.results as readonly Definition[]).filter((definition) => definition.archived !== true);
    const byName = new Map(live.map((definition): [string, Definition] => [definition.name, definition]));
    known = byName;
    return byName;
  };
  return {
    read: async (apis) => [...(await read(apis)).values()],
    // An unknown property may be new.
    definition: async (apis, name) => known?.get(name) ?? (await read(apis)).get(name),
    shownOf: (texts, names) =>
      Object.fromEntries(
        names.flatMap((name) => {
          const definition = Object.hasOwn(texts, name) ? known?.get(name) : undefined;
          return definition === undefined ? [] : [[name, fromHubspot(texts[name], definition.type)]];
        }),
      ),
    async valuesOf(apis, names) {
      const definitions = known ?? (await read(apis));
      return (texts) =>
        Object.fromEntries(names.map((name) => [name, fromHubspot(texts[name], definitions.get(name)?.type)]));
    },
  };
}
