/** Holds that nothing is exported for nobody, and that no package is installed for nothing. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*)$/gm, '');
const texts = new Map(
  globSync('{src,providers,scaffold}/**/*.{ts,js}', { cwd: ROOT, exclude: ['**/node_modules/**', 'scaffold/test/**'] })
    .map((file) => file.replaceAll('\\', '/'))
    .map((file) => [file, withoutComments(textOf(file))]),
);
/** What starts the program, and what the package exports for authors: the inputs of the build. */
const ENTRIES = new Set(
  [...textOf('rolldown.config.ts').matchAll(/'((?:src|providers)\/[^']+\.(?:ts|js))'/g)].map(([, file = '']) => file),
);

interface Export {
  readonly file: string;
  readonly name: string;
  readonly isType: boolean;
  /** The whole declaration. */
  readonly text: string;
}

/** The names of `a, type b, c as d`: as they are where they come from, or as they are here. */
const namesOf = (list: string, as: 'there' | 'here'): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
    .map((name) => name.split(/\s+as\s+|\s*:\s*/))
    .map(([there = '', here = there]) => (as === 'there' ? there : here));

const DECLARED = /^export (?:declare )?(?:abstract )?(?:async )?(const|let|function\*?|class|interface|type) (\w+)/;
const LISTED = /^export (?:type |const |let )?\{([^}]*)\}/;

function exportsOf([file, text]: readonly [string, string]): readonly Export[] {
  // A statement, and nothing else, begins with a letter in the first column.
  return text.split(/^(?=[a-z])/m).flatMap((statement): readonly Export[] => {
    const [, kind, name] = DECLARED.exec(statement) ?? [];
    const isType = kind === 'interface' || kind === 'type';
    if (name !== undefined) return [{ file, name, isType, text: statement }];
    const [, list] = LISTED.exec(statement) ?? [];
    return namesOf(list ?? '', 'here').map((each) => ({ file, name: each, isType: false, text: '' }));
  });
}

/** `file name` of everything that a file takes from another one. */
function usesOf([file, text]: readonly [string, string]): readonly string[] {
  const at = (path: string): string => normalize(join(dirname(file), path)).replaceAll('\\', '/');
  const listed = [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\}\s*from\s*'(\.[^']+)'/gm)];
  const whole = [...text.matchAll(/^import (?:type )?\* as \w+ from '(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gm)];
  // Of a file that is taken as a whole, every name that occurs counts.
  const words = whole.length === 0 ? [] : [...new Set(text.match(/\w+/g))];
  return [
    ...listed.flatMap(([, list = '', path = '']) => namesOf(list, 'there').map((name) => `${at(path)} ${name}`)),
    ...whole.flatMap(([, fixed, dynamic]) => words.map((name) => `${at(fixed ?? dynamic ?? '')} ${name}`)),
  ];
}

const exported = [...texts].filter(([file]) => !file.startsWith('scaffold/')).flatMap(exportsOf);
const used = new Set([...texts].flatMap(usesOf));

/** A type without which another export of its file could not be used. */
const isPartOfAnother = ({ file, name, isType }: Export): boolean =>
  isType &&
  exported.some((other) => other.file === file && other.name !== name && new RegExp(`\\b${name}\\b`).test(other.text));

const isDead = (one: Export): boolean =>
  !ENTRIES.has(one.file) && !used.has(`${one.file} ${one.name}`) && !isPartOfAnother(one);

test('every export is imported by something that runs, and not by tests alone', () => {
  expect(exported.length).toBeGreaterThan(2_000);
  expect(ENTRIES.size).toBe(6);
  expect(exported.filter(isDead).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

describe('every package', () => {
  const manifest: Record<'dependencies' | 'devDependencies' | 'scripts', Record<string, string>> = JSON.parse(
    textOf('package.json'),
  );
  const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  const code = globSync(['{src,providers,test,.ci}/**/*.{ts,js}', 'rolldown.config.ts'], { cwd: ROOT }).map(textOf);
  const commands = [...Object.values(manifest.scripts), ...globSync('.ci/*', { cwd: ROOT }).map(textOf)];

  const isImported = (name: string): boolean => {
    const imported = new RegExp(`(?:\\bfrom|\\bimport|\\(|\\brequire\\()\\s*'${name}(?:/[^']*)?'`);
    return code.some((text) => imported.test(text));
  };
  const isRun = (name: string): boolean => {
    const { bin = {} }: { bin?: string | Record<string, string> } = JSON.parse(
      textOf(`node_modules/${name}/package.json`),
    );
    const programs = typeof bin === 'string' ? [name] : Object.keys(bin);
    return programs.some((program) => commands.some((text) => new RegExp(`(?:^|[\\s/])${program}\\s`, 'm').test(text)));
  };
  const isTypesOf = (name: string): boolean => name.startsWith('@types/') && packages.includes(name.slice(7));

  test('is imported, or its program is run', () => {
    expect(packages.length).toBeGreaterThan(30);
    expect(packages.filter((name) => !isImported(name) && !isRun(name) && !isTypesOf(name))).toEqual([]);
  });
});
