/** In which order a run takes its files: what takes long begins early, or one file works alone at the end. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { filesThatImport } from './fast-files.ts';

/** What takes tens of seconds: processes of their own, a browser, and the rules for providers, some of which wait. */
const LONG_IMPORTS = ['test/support/program.ts', '@sparticuz/chromium', 'providers/kit/conformance/conformance.ts'];

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Long files and large ones by turns: many processes at a time would wait for one another. Then the small ones. */
export class Order extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const files = inOrder(specs.map(({ moduleId }) => path.relative(ROOT, moduleId)));
    const places = new Map(files.map((file, place) => [path.join(ROOT, file), place]));
    return specs.toSorted((a, b) => (places.get(a.moduleId) ?? 0) - (places.get(b.moduleId) ?? 0));
  }
}

/** Test files, by their path from the root, in the order in which they are taken. */
export function inOrder(files: readonly string[]): readonly string[] {
  const sizes = new Map(files.map((file) => [file, statSync(path.join(ROOT, file)).size]));
  const bySize = files.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
  const long = new Set(filesThatImport(LONG_IMPORTS, files));
  const first = bySize.filter((file) => long.has(file));
  const others = bySize.filter((file) => !long.has(file));
  return [...first.flatMap((file, place) => [file, ...others.slice(place, place + 1)]), ...others.slice(first.length)];
}
