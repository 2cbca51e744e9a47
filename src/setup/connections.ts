/** Turns the answers about one CRM into a connection of the draft, with its secrets in files. */
import type { TObject } from 'typebox';
import type { Property, PropertyDefinition, Provider } from '../../providers/provider.ts';
import { type ConfiguredProvider, checkConfig } from '../config/load.ts';
import type { ConfigProblem } from '../config/schema/fill.ts';
import type { Env } from '../config/variables.ts';
import { missingProperties } from '../connector/crm/make-properties.ts';
import { folderOf, type SetUpPlace, trialOf } from './config-of.ts';
import type { Draft, DraftConnection } from './draft.ts';
import { type QuestionPart, readAnswers } from './questions.ts';
import { keepSecrets } from './secret-files.ts';

/** The place of the configuration, and the environment that it may refer to. */
export interface SetUpGround {
  readonly place: SetUpPlace;
  readonly env: Env;
}

export type ReadConnection =
  | { readonly ok: true; readonly provider: ConfiguredProvider }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Reads a connection as every start does. Problems name the keys of its section. */
export async function readConnection(
  name: string,
  connection: DraftConnection,
  { place, env }: SetUpGround,
): Promise<ReadConnection> {
  const load = await checkConfig(trialOf(name, connection, place), place.file, env);
  const [provider] = load.ok ? (load.config.connector?.providers ?? []) : [];
  if (provider !== undefined) return { ok: true, provider };
  const section = `connector.providers.${name}.`;
  const problems = load.ok
    ? []
    : load.errors.map(({ path, message }) => ({ path: path.replace(section, ''), message }));
  return { ok: false, problems };
}

/** A provider, and the earlier answers about it. */
export interface AskedConnection {
  readonly name: string;
  readonly use: string;
  readonly provider: Provider<TObject>;
  readonly parts: readonly QuestionPart[];
  readonly connection: DraftConnection | undefined;
}

/** Makes a connection even of invalid answers. Writes its secrets into files that begin with `section`, or throws. */
export async function answeredConnection(
  { name, use, provider, parts, connection }: AskedConnection,
  answer: (question: string) => string,
  ground: SetUpGround,
  section = name,
): Promise<{ readonly kept: DraftConnection; readonly read: ReadConnection }> {
  const answers = readAnswers(parts, answer, connection?.settings);
  const settings = { ...(await keepSecrets(folderOf(ground.place), section, answers)) };
  const kept: DraftConnection = { ...(connection ?? usualConnection(provider)), use, settings };
  const read = await readConnection(name, kept, ground);
  return { kept: { ...kept, isComplete: read.ok }, read };
}

/** The provider's usual properties for the number and for holds. */
export function usualConnection({
  definitions = [],
}: Pick<Provider, 'definitions'>): Pick<DraftConnection, 'match' | 'hold'> {
  const match = definitions.find(({ unique }) => unique === true)?.name;
  const hold = definitions.find(({ name }) => /hold/iu.test(name))?.name;
  return { ...(match !== undefined && { match }), ...(hold !== undefined && { hold }) };
}

/** Sets the property of the number; an empty one removes it. */
export const withMatch = ({ match: _match, ...rest }: DraftConnection, match: string): DraftConnection => ({
  ...rest,
  isNumberChosen: true,
  ...(match !== '' && { match }),
});

/** Adds the property of the number, and the usual one for holds. `properties`: those of the CRM, if known. */
export function withNumber(
  { hold: _hold, ...rest }: DraftConnection,
  provider: Pick<Provider, 'definitions'>,
  match: string,
  properties: readonly string[] | undefined,
): DraftConnection {
  const { hold } = usualConnection(provider);
  // A hold that cannot be read would stop the connection.
  const isHeld = hold !== undefined && properties?.includes(hold) !== false;
  return { ...withMatch(rest, match), ...(isHeld && { hold }) };
}

/** Whether the file already has the connection: somebody chose its property for holds, or to have none. */
export const isOfFile = ({ read, connections }: Draft, name: string): boolean =>
  read !== undefined && connections[name]?.isNumberChosen === true;

/** The properties that a first connection needs for mapping, number and holds, and the CRM lacks. */
export const lackedProperties = (
  provider: ConfiguredProvider,
  properties: readonly Property[],
): readonly PropertyDefinition[] =>
  missingProperties({ ...provider, ...usualConnection(provider.provider), match: provider.match }, properties);
