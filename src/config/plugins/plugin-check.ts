/** Checks that an exported provider works with this version, and says what to do if not. */
import Type, { type TObject } from 'typebox';
import { isFieldName } from '../../../providers/fields.ts';
import { CONTRACT_VERSION, type Provider } from '../../../providers/provider.ts';
import { connectionSchema } from '../schema/schema.ts';
import { lackingMembers } from './exported.ts';

export type ProviderLoad =
  | { readonly ok: true; readonly provider: Provider<TObject> }
  | { readonly ok: false; readonly message: string };

const POLICIES: readonly unknown[] = ['tracked', 'always', 'if-blank', 'never'];

export const isProvider = (value: unknown): value is Provider =>
  typeof value === 'object' && value !== null && lackingMembers(value).length === 0;

const isComplete = (provider: Provider): provider is Provider<TObject> =>
  Type.IsObject(provider.settings) && Array.isArray(provider.preset) && typeof provider.limits === 'function';

/** Calls nothing of the provider. `use` is its name in the configuration. */
export function checkProvider(use: string, provider: Provider): ProviderLoad {
  const wrong = versionFault(provider.contract);
  if (wrong !== undefined) return { ok: false, message: `${use} ${wrong}` };
  if (!isComplete(provider)) {
    const needs = 'settings (a Type.Object of typebox 1), preset (a list) and limits (a function) are needed';
    return { ok: false, message: `${use} is not a whole provider: ${needs}` };
  }
  const fault = settingsFault(provider) ?? presetFault(provider);
  return fault === undefined ? { ok: true, provider } : { ok: false, message: `${use} ${fault}` };
}

/** The fault of a provider for another major version, or one that needs a later minor version. */
function versionFault(contract: string): string | undefined {
  const theirs = readVersion(contract);
  const ours = readVersion(CONTRACT_VERSION);
  const built = `is built for version ${contract} of the provider contract, this is ${CONTRACT_VERSION}`;
  if (theirs === undefined || ours === undefined)
    return `states ${JSON.stringify(contract)} as its contract: it should be a version such as ${CONTRACT_VERSION}`;
  if (theirs.major !== ours.major) return `${built}: install a version of it that fits`;
  if (theirs.minor > ours.minor) return `${built}: update cvrsync, or install an older version of it`;
  return undefined;
}

function readVersion(text: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+(?:[-+].*)?$/.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

function settingsFault({ settings }: Provider<TObject>): string | undefined {
  const taken = Object.keys(settings.properties).find((key) => Object.hasOwn(connectionSchema.properties, key));
  return taken === undefined
    ? undefined
    : `has a setting named ${taken}, which means something else in every connection`;
}

function presetFault({ preset }: Provider<TObject>): string | undefined {
  for (const row of preset) {
    const { field, property, policy }: Readonly<Record<string, unknown>> = { ...row };
    const shown = JSON.stringify(field) ?? 'nothing';
    if (typeof field !== 'string' || !isFieldName(field))
      return `maps ${shown} in its preset, which is not a company field`;
    if (typeof property !== 'string' || property === '') return `maps ${field} to no property in its preset`;
    if (!POLICIES.includes(policy)) return `gives ${field} no policy in its preset (tracked, always, if-blank, never)`;
  }
  return undefined;
}
