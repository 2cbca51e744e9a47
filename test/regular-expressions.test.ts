/**
 * Regular expressions that take quadratic time freeze the daemon on 40 kB of tabs: every one of ours is proven linear,
 * or stands below with its reason.
 */
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Node, parse } from 'acorn';
import { simple } from 'acorn-walk';
import PQueue from 'p-queue';
import { check } from 'recheck';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{src,providers}/**/*.{ts,js}', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'));

interface Expression {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** What the checker cannot follow, though it is linear: the reason why, by file and expression. */
const PROVEN_BY_HAND: Readonly<Record<string, string>> = {
  // The checker knows no back-references. What has begun always matches, at the latest at the end of the text, and the
  // search goes on behind it: no character is read twice for two beginnings. Held to it below.
  'src/service/news/wording/clean-html.ts /<(script|style|template|noscript|iframe|object|svg|math|title|textarea)\\b[\\s\\S]*?(?:<\\/\\1\\s*>|$)/':
    'a match that began never fails',
  'src/service/feeds/plain-html.ts /<(script|style|template|title)\\b[\\s\\S]*?(?:<\\/\\1\\s*>|$)/':
    'a match that began never fails',
};

/** Expressions that are put together while the program runs: what they are made of. */
const COMPOSED: Readonly<Record<string, string>> = {
  'src/config/schema/fill.ts': 'the names a section takes, from our schemas, which are checked here as patterns',
  'src/dashboard/steps/crm-page.ts': 'the names of connections, from our schemas, which are checked here as patterns',
  'src/match/describe/notes-in-name.ts': 'the words of its list, with a bounded number of marks around them',
  'src/protocol/text/mask.ts': 'secrets of the configuration, escaped: alternatives without any repetition',
  'src/service/keys/keys.ts': 'a constant prefix and a fixed number of characters',
  'src/service/news/wording/article.ts': 'a name of at most 300 characters, escaped: no repetition',
  'src/commands/demo/demo.ts': 'the names of two headers in a mail the demo itself has sent',
  'src/commands/emulate/emulate.ts': 'typed by whoever runs the emulator, which is no part of the daemon',
  'providers/kit/conformance/lab/http.ts': 'of an adapter that is tried, which is no part of the daemon',
  'providers/kit/conformance/lab/lab.ts': 'of an adapter that is tried, which is no part of the daemon',
  'providers/kit/conformance/lab/whole-subject.ts': 'of an adapter that is tried, which is no part of the daemon',
  'providers/kit/emulator/emulator.ts': 'typed by whoever runs the emulator, which is no part of the daemon',
};

interface Found {
  readonly expressions: readonly Expression[];
  /** How many times `RegExp` is called. */
  readonly composed: number;
}

/** All expressions of a file: literals, and the patterns of schemas. */
function expressionsOf(file: string, text: string): Found {
  const program = parse(stripTypeScriptTypes(text), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowHashBang: true,
  });
  const expressions: Expression[] = [];
  let composed = 0;
  const called = (callee: Node): void => {
    if (callee.type === 'Identifier' && 'name' in callee && callee.name === 'RegExp') composed += 1;
  };
  simple(program, {
    Literal({ regex }) {
      if (regex) expressions.push({ file, source: regex.pattern, flags: regex.flags });
    },
    Property({ key, value }) {
      const isPattern = key.type === 'Identifier' && key.name === 'pattern';
      if (isPattern && value.type === 'Literal' && typeof value.value === 'string')
        expressions.push({ file, source: value.value, flags: '' });
    },
    NewExpression: ({ callee }) => called(callee),
    CallExpression: ({ callee }) => called(callee),
  });
  return { expressions, composed };
}

const found = FILES.map((file) => ({ file, ...expressionsOf(file, readFileSync(join(ROOT, file), 'utf8')) }));
const expressions = found.flatMap((each) => each.expressions);
const spelled = ({ file, source }: Expression): string => `${file} /${source}/`;

/** Why an expression is not proven linear; undefined if it is. */
async function complaint(expression: Expression): Promise<string | undefined> {
  // One automaton for all: fuzzing only fails to find. What it cannot decide in this time is simplified until it can.
  const verdict = await check(expression.source, expression.flags, { checker: 'automaton', timeout: 60_000 });
  if (verdict.status === 'safe') return undefined;
  const why = verdict.status === 'vulnerable' ? verdict.complexity.summary : `undecided (${verdict.error.kind})`;
  return `${spelled(expression)}: ${why}`;
}

describe('regular expressions that take quadratic time', () => {
  test('every one in src and providers is proven linear, or is on the list of those proven by hand', async () => {
    const distinct = [...new Map(expressions.map((each) => [`${each.source}/${each.flags}`, each])).values()];
    const open = distinct.filter((each) => PROVEN_BY_HAND[spelled(each)] === undefined);
    const queue = new PQueue({ concurrency: 2 });
    const complaints = await queue.addAll(open.map((each) => () => complaint(each)));
    expect(complaints.filter((each) => each !== undefined)).toEqual([]);
    expect(distinct.length).toBeGreaterThan(200);
  });

  test('the list of those proven by hand names only what is there, and what the checker cannot prove', async () => {
    const there = new Map(expressions.map((each) => [spelled(each), each]));
    for (const name of Object.keys(PROVEN_BY_HAND)) {
      const expression = there.get(name);
      expect(expression, name).toBeDefined();
      if (expression !== undefined) expect(await complaint(expression)).toMatch(/undecided/);
    }
  });

  test('an expression is put together at run time only where it is known what of', () => {
    const composing = found.filter(({ composed }) => composed > 0).map(({ file }) => file);
    expect(composing.sort()).toEqual(Object.keys(COMPOSED).sort());
  });

  test('literals, patterns of schemas and composed ones are all found, and the checker tells bad from good', async () => {
    const { expressions: seen, composed } = expressionsOf(
      'made-up.ts',
      "const a = (t: string) => t.replace(/\\s*%$/u, ''); const b = { pattern: '^a+$' }; new RegExp('c'); RegExp('d');",
    );
    expect(seen.map(({ source }) => source)).toEqual(['\\s*%$', '^a+$']);
    expect(composed).toBe(2);
    expect(await Promise.all(seen.map(complaint))).toEqual([
      expect.stringContaining('2nd degree polynomial'),
      undefined,
    ]);
  });
});
