/** What a connection remembers of the account's property definitions; the first need of them costs one call. */
import type { PropertyValue } from '../../provider.ts';
import type { Apis } from '../client/client.ts';
import type { Definition } from './properties.ts';
import { fromHubspot } from './values.ts';

/** The definitions of the account's company properties. */
export interface HubspotSchema {
  /** Reads them again. */
  read(apis: Apis): Promise<readonly Definition[]>;
  /** One of them, as it was read last; read again where it is not among them. */
  definition(apis: Apis, name: string): Promise<Definition | undefined>;
  /** Texts to values by the account's own types; the names asked for are always all there. */
  valuesOf(apis: Apis, names: readonly string[]): Promise<ToValues>;
  /** The same by what is known already, for the names that HubSpot gives a text of; nothing where nothing is known. */
  shownOf(texts: HubspotTexts, names: readonly string[]): Readonly<Record<string, PropertyValue>>;
}

type HubspotTexts = Readonly<Record<string, string | null>>;

/** Turns HubSpot's texts into values. */
export type ToValues = (texts: HubspotTexts) => Readonly<Record<string, PropertyValue>>;

/** Nothing read yet. */
export function openSchema(): HubspotSchema {
  let known: ReadonlyMap<string, Definition> | undefined;
  const read = async (apis: Apis) => {
    // Not by the client's class: it leaves out how a number is shown. The fence has seen to it that each has a name.
    const { body } = await apis.get('/crm/v3/properties/companies?archived=false');
    const live = (body.results as readonly Definition[]).filter((definition) => definition.archived !== true);
    const byName = new Map(live.map((definition): [string, Definition] => [definition.name, definition]));
    known = byName;
    return byName;
  };
  return {
    read: async (apis) => [...(await read(apis)).values()],
    // One that is not known may have been made since.
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
