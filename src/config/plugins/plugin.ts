/** From `use:` to a provider: built in, a path, or an npm package. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import Type, { type TObject } from 'typebox';
import { BUILT_IN } from '../../../providers/index.ts';
import type { Provider } from '../../../providers/provider.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { connectionSchema } from '../schema/schema.ts';
import { addressOf, isPath } from './address.ts';
import { exportedInstead, exportMeant } from './exported.ts';
import { importFailure } from './import-failure.ts';
import { noteImport } from './imported.ts';
import { checkProvider, isProvider, type ProviderLoad } from './plugin-check.ts';

/** How long an import may take, in ms: one that waits for the network would keep the daemon from starting. */
const IMPORT_MS = 10_000;

/** Loads a provider; opens nothing. `folder` is where relative paths and packages are looked for first. */
export async function loadProvider(use: string, folder: string, importMs = IMPORT_MS): Promise<ProviderLoad> {
  const builtIn = Object.hasOwn(BUILT_IN, use) ? BUILT_IN[use] : undefined;
  if (builtIn !== undefined) return checkProvider(use, await builtIn());
  if (isPath(use) && statSync(resolve(folder, use), { throwIfNoEntry: false })?.isDirectory() === true)
    return { ok: false, message: `${use} is a folder: name the file in it that exports the provider` };
  try {
    const address = addressOf(use, folder);
    noteImport(use, address, folder);
    const module = await importFrom(address, importMs);
    const provider = exportMeant(module, 'provider', isProvider);
    if (provider !== undefined) return checkProvider(use, provider);
    const needed = 'an object with name, contract, settings and connect';
    return { ok: false, message: `${use} exports no provider: ${needed}${exportedInstead(module)}` };
  } catch (error) {
    return { ok: false, message: `${use} cannot be loaded: ${errorText(error)}` };
  }
}

/** Imports a module; where that fails or does not end, throws an error that says why and what to do. */
export async function importFrom(address: string, importMs = IMPORT_MS): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const seconds = Math.ceil(importMs / 1_000);
    late.reject(new Error(`its import did not end within ${seconds} s: it should open nothing and wait for nothing`));
  }, importMs);
  try {
    return await Promise.race([import(address), late.promise]);
  } catch (error) {
    throw new Error(await importFailure(error, address), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** One entry of `connector.providers`: what all take, and the provider's own settings. The common keys win. */
export function entrySchema(provider: Provider<TObject>): TObject {
  const { use, ...common } = connectionSchema.properties;
  return Type.Object({ use, ...provider.settings.properties, ...common }, { additionalProperties: false });
}
