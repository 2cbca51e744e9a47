/** Holds that every sentence which other folders say and pages show has its Danish: read from the sources, so that none is forgotten. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { SAID } from '../../src/dashboard/texts/said/table.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What uploads, plans, calls, deliveries and undos say, and what a payload or a rule would do. */
const SPOKEN = [
  'src/connector/decide/remarks.ts',
  'src/connector/rules/preview.ts',
  'src/connector/undo/{decide-undo,outcome,run,together}.ts',
  'src/protocol/text/json.ts',
  'src/connector/backfill/plan/{doubts,moved-numbers,read,take}.ts',
  'src/connector/crm/record-id.ts',
  'src/connector/review/import.ts',
  'src/http/outbound/{client,excerpt,fault,headers}.ts',
  'src/runtime/files/csv-rows.ts',
  'src/service/delivery/{post,record,test-webhook,trim}.ts',
];

/** Every file that makes findings, but for those whose findings only the terminal shows. */
const CHECKS = globSync('src/{alerts,commands,config,connector,service}/**/*.ts', { cwd: ROOT })
  .filter((file) => textOf(file).includes("/finding.ts'"))
  .concat('src/alerts/channel.ts', 'src/config/warnings.ts')
  .filter((file) => !/commands\/(?:check|check\/readable-files)\.ts$/u.test(file));

/** What these files say to others than the pages: to callers, the log and the terminal, by its beginning. */
const ELSEWHERE = [
  // Keys, settings, names of properties, parts of HTTP, and subjects, which are code on each page.
  /^(?:bad|not in|is not|Bearer \{\}|fields: \{ .*|CVR hold|timestamp or period|alerts \{\})$/u,
  // A plan file, as the command prints it.
  /^(?:line \{\}: \{\}|and \{\} more|the plan \{\} cannot be applied)/u,
  // The log, and errors that no page catches.
  /^\{\}: the record id \{\} cannot|^canonicalId failed|^nobody waits for it|^the test of a webhook was stopped|^\{\} is no field/u,
  // `check --create-properties`, which no page runs.
  /^\{\} are missing, and this|^create them in the CRM|^exists, but these|^could not be created|^the CRM gave no reason/u,
];

const isSql = (text: string): boolean => /\b(?:cast\(|select |update \w+ set )/u.test(text);

/** What a template says around its values, as a pattern of the sentence that it stands in. A value may be empty. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .trim()
      .split('{}')
      .map((part) => RegExp.escape(part))
      .join('.*'),
    'su',
  );

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** The texts of two words and more below a node, with `{}` for each value in them. */
function textsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (!isNode(node)) return [];
  const { type, value, quasis, key } = node;
  if (type === 'ImportDeclaration' || type === 'TSLiteralType') return [];
  // A subject names a thing, and is code on each page.
  const name = type === 'Property' ? key : type === 'VariableDeclarator' ? node['id'] : undefined;
  if (isNode(name) && name['name'] === 'subject') return [];
  const own = type === 'Literal' && typeof value === 'string' ? value : undefined;
  const parts = type === 'TemplateLiteral' && Array.isArray(quasis) ? quasis : [];
  const template = parts.map((part) => (isNode(part) && isNode(part['value']) ? String(part['value']['cooked']) : ''));
  const text = own ?? template.join('{}');
  return [...(/\p{L}{2}\S* | \p{L}{2}/u.test(text) ? [text] : []), ...Object.values(node).flatMap(textsIn)];
}

const unknownIn = (file: string): readonly string[] =>
  textsIn(parseAst(textOf(file), { lang: 'ts' }).body)
    .filter((text) => !isSql(text))
    .filter((text) => !ELSEWHERE.some((each) => each.test(text.trim())))
    .filter((text) => !SAID.some(([en]) => patternOf(text).test(en)))
    .map((text) => `${file}: ${text}`);

test('what uploads, plans, calls, deliveries and undos say has its Danish', () => {
  const files = SPOKEN.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  expect(files.length).toBeGreaterThan(SPOKEN.length);
  expect(files.flatMap(unknownIn)).toEqual([]);
});

test('what check says has its Danish', () => {
  expect(CHECKS.length).toBeGreaterThan(12);
  expect(CHECKS.flatMap(unknownIn)).toEqual([]);
});

test('a Danish sentence has the places of the English one', () => {
  const placesOf = (text: string): readonly string[] => (text.match(/\{\w+\}/gu) ?? []).toSorted();
  expect(SAID.filter(([en, da]) => placesOf(en).join() !== placesOf(da).join())).toEqual([]);
});
