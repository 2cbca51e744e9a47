/** Which test files `npm run test:fast` runs: found by what they import, so that nobody keeps a list. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What a fast test does not import, not through other files either. */
const SLOW_IMPORTS = [
  // Processes, threads, and a library that starts one.
  'node:child_process',
  'node:worker_threads',
  'recheck',
  // Stores, PostgreSQL among them.
  'src/store/engines/open.ts',
  'test/support/stores.ts',
  'test/support/postgres.ts',
  // The suite of rules for every provider, some of which wait for real time-outs.
  'providers/kit/conformance/conformance.ts',
] as const;

const root = path.resolve(import.meta.dirname, '../..');
const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;

/** All test files, those for benchmarks aside, by their path from the root. */
export function testFiles(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root, exclude: ['test/bench/**'] }).sort();
}

/** The test files that reach none of `SLOW_IMPORTS`, and may share a worker. */
export function fastTestFiles(): string[] {
  const imports = new Map<string, string[]>();
  return testFiles().filter((file) => {
    // Who looks at the loaded modules needs a worker that has loaded nothing.
    if (importsOf(file, imports).includes('node:module')) return false;
    const reached = reach(file, imports);
    return !SLOW_IMPORTS.some((slow) => reached.has(slow));
  });
}

/** The test files that import one of these files or packages, also through others. */
export function filesThatImport(imported: readonly string[], among: readonly string[] = testFiles()): string[] {
  const imports = new Map<string, string[]>();
  return among.filter((file) => {
    const reached = reach(file, imports);
    return imported.some((each) => reached.has(each));
  });
}

function reach(file: string, imports: Map<string, string[]>, seen = new Set<string>()): Set<string> {
  for (const imported of importsOf(file, imports)) {
    if (seen.has(imported)) continue;
    seen.add(imported);
    if (/\.[jt]s$/.test(imported)) reach(imported, imports, seen);
  }
  return seen;
}

/** What a file imports when it runs: packages by name, files by their path from the root. */
function importsOf(file: string, known: Map<string, string[]>): string[] {
  const before = known.get(file);
  if (before !== undefined) return before;
  const found: string[] = [];
  const at = path.join(root, file);
  for (const [, fixed, later] of existsSync(at) ? readFileSync(at, 'utf8').matchAll(IMPORT) : []) {
    const name = fixed ?? later ?? '';
    found.push(name.startsWith('.') ? path.relative(root, path.resolve(path.dirname(at), name)) : name);
  }
  known.set(file, found);
  return found;
}
