/** The version of the package. */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of the package. */
export function readVersion(): string {
  const file = findPackageJSON(import.meta.url);
  const content: unknown = file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'));
  return String(Object.getOwnPropertyDescriptor(content, 'version')?.value ?? 'unknown');
}
