/**
 * Holds the house to its plan: which folder may import which, no circles, no file too long, nothing if it does not
 * belong. `src/protocol` is the ground floor; a floor imports the ones below it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDoc, spans, tableIn } from './support/docs.ts';

const ROOT = join(import.meta.dirname, '..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const files = globSync('{src,providers,test}/**/*.{ts,js}', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'));
const sources = files.filter((file) => !file.startsWith('test/'));

interface Import {
  readonly from: string;
  /** A file of this project, or a package's name. */
  readonly to: string;
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;
const packageOf = (name: string): string =>
  name.startsWith('node:') ? 'node' : name.split('/', name.startsWith('@') ? 2 : 1).join('/');
const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*)$/gm, '');

/** All imports of a file: of values and of types, static and dynamic, and what it exports from elsewhere. */
const importsOf = (file: string): readonly Import[] =>
  [...withoutComments(textOf(file)).matchAll(IMPORT)].map(([, fixed, dynamic]) => {
    const name = fixed ?? dynamic ?? '';
    const isOurs = name.startsWith('.');
    return { from: file, to: isOurs ? normalize(join(dirname(file), name)).replaceAll('\\', '/') : packageOf(name) };
  });
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const allImports = (of: readonly string[]): readonly Import[] => of.flatMap((file) => imports.get(file) ?? []);

/** What a folder may import of this project, beside itself. The fifth floor (all else in `src`) may import anything. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  'src/protocol/': [],
  'src/telemetry/': [],
  'src/store/': ['src/protocol/'],
  'src/match/': ['src/store/', 'src/protocol/'],
  'src/runtime/': ['src/store/', 'src/protocol/'],
  'src/http/': ['src/store/', 'src/protocol/', 'src/telemetry/', 'providers/retry-after.ts'],
  'src/connector/': [
    'src/match/',
    'src/runtime/',
    'src/http/',
    'src/store/',
    'src/protocol/',
    'src/telemetry/',
    'providers/provider.ts',
    'providers/fields.ts',
    'providers/misfit.ts',
    'providers/contract-schemas.ts',
    'providers/composed.ts',
  ],
  'src/service/': ['src/match/', 'src/runtime/', 'src/http/', 'src/store/', 'src/protocol/', 'src/telemetry/'],
  'src/alerts/': ['src/connector/', 'src/service/', 'src/runtime/', 'src/http/', 'src/store/', 'src/protocol/'],
  'src/operations/': [
    'src/alerts/',
    'src/connector/',
    'src/service/',
    'src/match/',
    'src/runtime/',
    'src/http/',
    'src/store/',
    'src/protocol/',
    'src/config/',
  ],
  'src/setup/': [
    'src/config/',
    'src/connector/',
    'src/service/',
    'src/runtime/',
    'src/http/',
    'src/store/',
    'src/protocol/',
    'providers/',
  ],
  'src/admin-api/': ['src/operations/', 'src/service/', 'src/runtime/', 'src/http/', 'src/store/', 'src/protocol/'],
  'src/dashboard/': [
    'src/setup/',
    'src/config/',
    'src/operations/',
    'src/alerts/',
    'src/connector/',
    'src/service/',
    'src/match/',
    'src/runtime/',
    'src/http/',
    'src/store/',
    'src/protocol/',
    'providers/',
  ],
  'providers/': [],
};
// Wires the parts, reads what people type: may import anything.
const TOP_FLOOR = [
  'src/cvrsync.js',
  'src/main.ts',
  'src/app.ts',
  'src/halves.ts',
  'src/configuration.ts',
  'src/first-sign-in.ts',
  'src/installation.ts',
  'src/set-up-mode.ts',
  'src/reload.ts',
  'src/running.ts',
  'src/version.ts',
  'src/commands/',
  'src/config/',
];
const PROVIDER_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  // Its calls, as the daemon makes them.
  'providers/kit/conformance/': ['undici'],
  'providers/hubspot/': ['@hubspot/api-client'],
  'providers/salesforce/': ['jsforce'],
};
/** The folder of one CRM, or of one part of the kit. */
const folderOfProvider = (file: string): string | undefined => /^providers\/(?:kit\/)?[^/]+\//.exec(file)?.[0];
/** The commands that start emulators, or try a provider. */
const KIT_COMMANDS = ['demo', 'emulate', 'provider'].map((name) => `src/commands/${name}/`);
const shown = ({ from, to }: Import): string => `${from} imports ${to}`;

describe('floors', () => {
  test('every source stands on one', () => {
    const places = [...Object.keys(FLOORS), ...TOP_FLOOR];
    expect(sources.filter((file) => !places.some((place) => file.startsWith(place)))).toEqual([]);
  });

  test.each(Object.entries(FLOORS))('%s imports only from %j and itself', (folder, allowed) => {
    const ours = allImports(sources.filter((file) => file.startsWith(folder))).filter(({ to }) => files.includes(to));
    expect(ours.filter(({ to }) => ![folder, ...allowed].some((place) => to.startsWith(place))).map(shown)).toEqual([]);
  });

  test('the protocol needs typebox and node alone', () => {
    const strangers = allImports(sources.filter((file) => file.startsWith('src/protocol/'))).filter(
      ({ to }) => !files.includes(to),
    );
    expect(strangers.filter(({ to }) => to !== 'typebox' && to !== 'node').map(shown)).toEqual([]);
  });

  test('a provider needs typebox, node and its own client alone, and no other provider', () => {
    const wrong = allImports(sources.filter((file) => file.startsWith('providers/'))).filter(({ from, to }) => {
      const folder = folderOfProvider(from);
      if (to.startsWith('providers/')) {
        const other = folderOfProvider(to);
        // The lists, and what the package exports for authors. An emulator may import its provider.
        const isList = ['providers/index.ts', 'providers/testing.ts', 'providers/kit/emulators.ts'].includes(from);
        const isOwn =
          other === folder || other === folder?.replace('/kit/', '/') || other === 'providers/kit/emulator/';
        return other !== undefined && !isOwn && !isList;
      }
      return to !== 'typebox' && to !== 'node' && !(PROVIDER_PACKAGES[folder ?? ''] ?? []).includes(to);
    });
    expect(wrong.map(shown)).toEqual([]);
  });

  test('only the kit and what runs it import the kit', () => {
    const isUser = (file: string): boolean =>
      ['providers/kit/', 'providers/testing.ts', ...KIT_COMMANDS].some((place) => file.startsWith(place));
    const users = allImports(sources).filter(({ to }) => to.startsWith('providers/kit/'));
    expect(users.length).toBeGreaterThan(100);
    expect(users.filter(({ from }) => !isUser(from)).map(shown)).toEqual([]);
  });

  test('imports are found in every way they can be written', () => {
    expect(allImports(sources).length).toBeGreaterThan(sources.length);
    expect(imports.get('src/connector/facts/fact.ts')?.map(({ to }) => to)).toEqual([
      'providers/fields.ts',
      'src/connector/facts/assertion.ts',
    ]);
    expect(allImports(sources).some(({ to }) => to === '@hubspot/api-client')).toBe(true);
  });

  test('nothing that runs imports a test, and every import of a file finds one', () => {
    const wrong = allImports(sources).filter(({ to }) => to.startsWith('test/') || to.startsWith('../'));
    const lost = allImports(files).filter(({ to }) => /\.[cm]?[jt]s$/.test(to) && !existsSync(join(ROOT, to)));
    expect([...wrong, ...lost].filter(({ to }) => !to.includes('node_modules')).map(shown)).toEqual([]);
  });
});

type Graph = ReadonlyMap<string, readonly Import[]>;

/** The first circle found from a file or folder, as a chain; undefined if there is none. */
const circleFrom = (graph: Graph, node: string, trail: readonly string[], done: Set<string>): string[] | undefined => {
  if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
  if (done.has(node)) return undefined;
  for (const { to } of graph.get(node) ?? []) {
    const circle = graph.has(to) ? circleFrom(graph, to, [...trail, node], done) : undefined;
    if (circle !== undefined) return circle;
  }
  done.add(node);
  return undefined;
};

const circleIn = (graph: Graph): string => {
  const done = new Set<string>();
  const circles = [...graph.keys()].map((node) => circleFrom(graph, node, [], done));
  return circles.find((circle) => circle !== undefined)?.join(' → ') ?? 'none';
};

test('no file imports itself over others, not even for types', () => {
  expect(circleIn(imports)).toBe('none');
});

/** The folder that a file is in. The files of `src` and `providers` themselves wire the parts: each stands for itself. */
const folderOf = (file: string): string => {
  const folder = dirname(file);
  return folder.includes('/') ? folder : file;
};

describe('folders', () => {
  const ours = allImports(sources).filter(({ to }) => imports.has(to));
  /** Imports between the nodes that files belong to; a file without a node is left out. */
  const graphOf = (nodeOf: (file: string) => string | undefined): Graph => {
    const between = ours
      .map(({ from, to }) => ({ from: nodeOf(from), to: nodeOf(to) }))
      .filter((each): each is Import => each.from !== undefined && each.to !== undefined && each.from !== each.to);
    const graph = Map.groupBy(between, ({ from }) => from);
    for (const { to } of between) if (!graph.has(to)) graph.set(to, []);
    return graph;
  };
  /** The child of a folder that a file is somewhere in. */
  const childOf = (parent: string) => (file: string) => {
    const [child, ...rest] = file.startsWith(`${parent}/`) ? file.slice(parent.length + 1).split('/') : [];
    return child === undefined || rest.length === 0 ? undefined : child;
  };
  const withParents = (folder: string): readonly string[] =>
    folder === '.' ? [] : [folder, ...withParents(dirname(folder))];
  const parents = [...new Set(sources.flatMap((file) => withParents(dirname(file))))];

  test.each(parents)('in %s import no circle of each other, with all that is in them', (parent) => {
    expect(circleIn(graphOf(childOf(parent)))).toBe('none');
  });

  test('import no circle of each other, a folder and the folders in it neither', () => {
    expect(circleIn(graphOf(folderOf))).toBe('none');
  });

  const orders = Map.groupBy(
    tableIn(readDoc('src/README.md'), 'Part', 'Its folders from the bottom'),
    (row) => spans(row['Part'] ?? '')[0] ?? '',
  );

  /** The folders of a part, each after those it imports; among those that are ready, in the order of the map. */
  const orderOf = (part: string, rows: readonly Readonly<Record<string, string>>[]): readonly string[] => {
    const child = childOf(`src/${part}`);
    const graph = graphOf(child);
    const listed = rows.flatMap((row) => spans(row['Its folders from the bottom'] ?? ''));
    const all = new Set(sources.map(child).filter((folder) => folder !== undefined));
    const left = new Set([...listed.filter((folder) => all.has(folder)), ...[...all].toSorted()]);
    const order: string[] = [];
    const isReady = (folder: string): boolean => (graph.get(folder) ?? []).every(({ to }) => !left.has(to));
    for (let next = [...left].find(isReady); next !== undefined; next = [...left].find(isReady)) {
      order.push(next);
      left.delete(next);
    }
    return order;
  };

  test('of every part with more than two are on the map', () => {
    // A folder of commands is one command: their order says nothing.
    const parts = [...new Set(sources.map(childOf('src')))].filter((part) => part !== undefined && part !== 'commands');
    const many = parts.filter((part) => new Set(sources.map(childOf(`src/${part}`))).size > 3);
    expect([...orders.keys()].toSorted()).toEqual(many.toSorted());
  });

  test.each([...orders])('of %s stand on the map in the order that their imports make', (part, rows) => {
    expect(rows.flatMap((row) => spans(row['Its folders from the bottom'] ?? ''))).toEqual(orderOf(part, rows));
  });
});

describe('files', () => {
  const lines = (file: string): number => textOf(file).split('\n').length - 1;

  test('have at most 400 lines', () => {
    const long = files.filter((file) => lines(file) > 400);
    expect(long.map((file) => `${file}: ${lines(file)}`)).toEqual([]);
  });

  test('are named by what they do', () => {
    const vague = /(?:^|\/)(?:utils?|helpers?|types|lib|common|misc|shared)\.ts$/;
    expect(files.filter((file) => vague.test(file))).toEqual([]);
    expect(files.filter((file) => file.endsWith('/index.ts') && file !== 'providers/index.ts')).toEqual([]);
  });

  test('are no lists of what others export, beside the list of providers', () => {
    const isList = (text: string): boolean => /^export\s+(?:type\s+)?\*/m.test(text);
    expect(sources.filter((file) => file !== 'providers/index.ts' && isList(textOf(file)))).toEqual([]);
  });
});

describe('what is committed', () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
  // Beyond the plan's own, what tools insist on.
  const TOP = new Set(
    `package.json tsconfig.json src providers samples scaffold test Dockerfile README.md LICENSE CHANGELOG.md
     package-lock.json rolldown.config.ts biome.json docs deploy CONTRIBUTING.md SECURITY.md .github .ci .dockerignore .gitignore .gitattributes .npmrc .nvmrc`.split(
      /\s+/,
    ),
  );

  test('has a place at the top level', () => {
    const top = new Set(tracked.map((file) => file.split('/')[0] ?? ''));
    expect([...top].filter((name) => !TOP.has(name))).toEqual([]);
  });

  test('names no path of one machine', () => {
    // Spelled in parts: this file is searched too.
    const local = new RegExp(`(?<![\\w.:@-])/(?:${['home', 'root', 'work', 'Users'].join('|')})/`);
    const isText = (file: string): boolean => !/\.(?:png|jpe?g|gif|ico|gz|tgz|db|sqlite)$/.test(file);
    const naming = tracked.filter((file) => file !== 'package-lock.json' && isText(file) && local.test(textOf(file)));
    expect(naming).toEqual([]);
  });

  test('holds no store, no build and no secrets', () => {
    const wrong = /(?:^|\/)(?:node_modules|dist)\/|\.(?:db|db-wal|db-shm|pem|key|env)$|(?:^|\/)cvrsync\.yaml$/;
    expect(tracked.filter((file) => wrong.test(file))).toEqual([]);
  });
});

describe('rooms', () => {
  // Why a folder may hold more than fifteen files. `test` mirrors `src`, and a bench is one file.
  const CROWDED = new Map([
    ['docs', 'one page for one question'],
    ['test/bench', 'one file for each bench'],
  ]);

  test('hold at most fifteen files', () => {
    const counts = new Map<string, number>();
    for (const file of globSync('{src,providers,docs,scaffold,data}/**/*.*', {
      cwd: ROOT,
      exclude: ['data/demo/**'],
    })) {
      const folder = dirname(file.replaceAll('\\', '/'));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const crowded = [...counts].filter(([folder, count]) => count > 15 && !CROWDED.has(folder));
    expect(crowded.map(([folder, count]) => `${folder}: ${count}`)).toEqual([]);
  });

  test.each(['src/connector', 'src/service'])('of %s never import from its root', (root) => {
    const rooms = sources.filter((file) => file.startsWith(`${root}/`) && dirname(file) !== root);
    expect(rooms.length).toBeGreaterThan(30);
    expect(
      allImports(rooms)
        .filter(({ to }) => dirname(to) === root)
        .map(shown),
    ).toEqual([]);
  });
});

describe('words', () => {
  const declared = (file: string): readonly string[] =>
    [...textOf(file).matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name = '']) => name);

  test('one exported type name has one meaning', () => {
    const places = new Map<string, string[]>();
    for (const file of sources)
      for (const name of declared(file)) places.set(name, [...(places.get(name) ?? []), file]);
    expect(places.size).toBeGreaterThan(300);
    const twice = [...places].filter(([, files]) => files.length > 1);
    expect(twice.map(([name, files]) => `${name}: ${files.join(', ')}`)).toEqual([]);
  });

  // Names that were replaced: an old one that survives as a synonym is worse than either.
  const REPLACED =
    /^(?:wish(?:es)?|rulings?|brakes?|sightings?|bell|census|fate|seized|rhythm|lent|pace|fixture|epoch|activated|rate_blocked|serviced|ruled)$/;
  const partsOf = (name: string): readonly string[] => name.split(/(?=[A-Z])|[_-]/).map((part) => part.toLowerCase());

  test('no replaced name returns', () => {
    const namesIn = (file: string): readonly string[] => [
      ...(file.split('/').at(-1)?.replace(/\.ts$/, '').split('.') ?? []),
      ...(withoutComments(textOf(file))
        .replace(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g, '')
        .match(/[A-Za-z_]\w+/g) ?? []),
    ];
    const wrong = sources.flatMap((file) =>
      [...new Set(namesIn(file))]
        .filter((name) => partsOf(name).some((part) => REPLACED.test(part)))
        .map((name) => `${file}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});
