/** From `use:` to a provider: built in, a path, or an npm package. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import Type, { type TObject } from 'typebox';
import { BUILT_IN } from '../../providers/index.ts';
import { CONTRACT_VERSION, type Provider } from '../../providers/provider.ts';
import { didYouMean } from './nearest.ts';
import { connectionSchema } from './schema.ts';

export type ProviderLoad =
  | { readonly ok: true; readonly provider: Provider<TObject> }
  | { readonly ok: false; readonly message: string };

const isProvider = (value: unknown): value is Provider =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'contract' in value &&
  typeof value.contract === 'string' &&
  'connect' in value &&
  typeof value.connect === 'function';

const isComplete = (provider: Provider): provider is Provider<TObject> =>
  Type.IsObject(provider.settings) && Array.isArray(provider.preset) && typeof provider.limits === 'function';

const majorOf = (version: string): string => version.split('.', 1)[0] ?? '';

/** Loads a provider; opens nothing. `folder` is where relative paths and packages are looked for first. */
export async function loadProvider(use: string, folder: string): Promise<ProviderLoad> {
  const builtIn = Object.hasOwn(BUILT_IN, use) ? BUILT_IN[use] : undefined;
  if (builtIn !== undefined) return judge(use, await builtIn());
  try {
    const loaded: unknown = await import(addressOf(use, folder));
    const values = typeof loaded === 'object' && loaded !== null ? Object.values(loaded) : [];
    const provider = values.find(isProvider);
    if (provider !== undefined) return judge(use, provider);
    return { ok: false, message: `${use} exports no provider: an object with name, contract, settings and connect` };
  } catch (error) {
    return { ok: false, message: `${use} cannot be loaded: ${reasonOf(error, use)}` };
  }
}

function judge(use: string, provider: Provider): ProviderLoad {
  if (majorOf(provider.contract) !== majorOf(CONTRACT_VERSION)) {
    const message = `${use} is built for version ${provider.contract} of the provider contract, this is ${CONTRACT_VERSION}`;
    return { ok: false, message: `${message}: install a version of it that fits` };
  }
  if (isComplete(provider)) {
    const taken = Object.keys(provider.settings.properties).find((key) =>
      Object.hasOwn(connectionSchema.properties, key),
    );
    if (taken === undefined) return { ok: true, provider };
    return {
      ok: false,
      message: `${use} has a setting named ${taken}, which means something else in every connection`,
    };
  }
  return { ok: false, message: `${use} is not a whole provider: settings (an object), preset and limits are needed` };
}

function addressOf(use: string, folder: string): string {
  if (use.startsWith('.') || use.startsWith('/')) return pathToFileURL(resolve(folder, use)).href;
  try {
    return pathToFileURL(createRequire(join(folder, 'package.json')).resolve(use)).href;
  } catch {
    // Packages for `import` only, and those installed beside this one.
    return use;
  }
}

function reasonOf(error: unknown, use: string): string {
  if (!(error instanceof Error)) return String(error);
  const isMissing =
    'code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'ERR_UNSUPPORTED_DIR_IMPORT');
  if (!isMissing || use.startsWith('.') || use.startsWith('/')) return error.message;
  return `it is neither built in nor installed${didYouMean(use, Object.keys(BUILT_IN))}`;
}

/** One entry of `connector.providers`: what all take, and the provider's own settings. The common keys win. */
export function entrySchema(provider: Provider<TObject>): TObject {
  const { use, ...common } = connectionSchema.properties;
  return Type.Object({ use, ...provider.settings.properties, ...common }, { additionalProperties: false });
}
