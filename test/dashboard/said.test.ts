/** Holds that every sentence which other folders say and pages show has its Danish: read from the sources, so that none is forgotten. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { checkMapping, type MappingToCheck } from '../../src/connector/crm/check-mapping.ts';
import { checkJobs } from '../../src/connector/monitoring/check-jobs.ts';
import { totalsText } from '../../src/connector/proposals/preview.ts';
import { readerOf } from '../../src/dashboard/page/reader.ts';
import { said } from '../../src/dashboard/page/said.ts';
import SAID from '../../src/dashboard/texts/said.da.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What uploads, plans, calls, deliveries and an undo say, and what a payload or a rule would do. */
const SPOKEN = [
  'src/connector/decide/remarks.ts',
  'src/connector/proposals/preview.ts',
  'src/connector/leave/{leave-work,made}.ts',
  'src/connector/links/left.ts',
  'src/connector/undo/{decide-undo,outcome,run,together}.ts',
  'src/protocol/text/json.ts',
  'src/connector/backfill/plan/{doubts,moved-numbers,read,take}.ts',
  'src/connector/crm/record-id.ts',
  'src/connector/review/import-answers.ts',
  'src/http/outbound/{client,excerpt,fault,guard,headers}.ts',
  'src/runtime/files/csv-rows.ts',
  'src/service/monitors/monitor-input.ts',
  'src/service/delivery/{post,record,test-webhook,trim}.ts',
  // What the CRMs' accounts say of themselves, which rights their credentials lack, and why a call, a login or a field fails.
  'providers/salesforce/{permissions,client/{client,errors,grant,ids,login,transport,update-call}}.ts',
  'providers/salesforce/{read/{check-account,fields},write/define}.ts',
  'providers/hubspot/{connection,scopes,client/{batch,exchange,faults},read/properties,write/define}.ts',
];

/** Every file that makes findings, but for those whose findings only the terminal shows. */
const CHECKS = globSync('src/{alerts,commands,config,connector,service}/**/*.ts', { cwd: ROOT })
  .filter((file) => textOf(file).includes("/finding.ts'"))
  .concat('src/alerts/channel.ts', 'src/config/warnings.ts')
  .concat('src/commands/match/need-index.ts', 'src/connector/intake/free-space.ts')
  .filter((file) => !/commands\/(?:check\/(?:check|readable-files)|init\/init)\.ts$/u.test(file));

/** What these files say to others than the pages: to callers, the log and the terminal, by its beginning. */
const ELSEWHERE = [
  // Keys, settings, names of properties, parts of HTTP, and subjects, which are code on each page.
  /^(?:bad|not in|is not|Bearer \{\}|fields: \{ .*|CVR hold|timestamp or period|alerts \{\})$/u,
  // Commands and the API.
  /^The monitor cannot be like that|^there is no company index yet|^the company index is not finished/u,
  // A plan file, as the command prints it.
  /^(?:line \{\}: \{\}|and \{\} more|the plan \{\} cannot be applied)/u,
  // The log, and errors that no page catches.
  /^\{\}: the record id \{\} cannot|^canonicalId failed|^nobody waits for it|^the test of a webhook was stopped|^\{\} is not a field/u,
  // What a program does wrong that calls a connection; and names that stay as they are in the CRM.
  /^the (?:Salesforce|HubSpot) connection (?:does not|sends)|^CVR register$|^cvrsync fields$|^Read and edit the fields/u,
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
    .filter((text) => !Object.keys(SAID).some((en) => patternOf(text).test(en)))
    .map((text) => `${file}: ${text}`);

test('the messages of uploads, plans, calls, deliveries and undo have Danish translations', () => {
  const files = SPOKEN.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  expect(files.length).toBeGreaterThan(SPOKEN.length);
  expect(files.flatMap(unknownIn)).toEqual([]);
});

test('the messages of check have Danish translations', () => {
  expect(CHECKS.length).toBeGreaterThan(12);
  expect(CHECKS.flatMap(unknownIn)).toEqual([]);
});

test('a Danish sentence has the placeholders of the English one', () => {
  const placesOf = (text: string): readonly string[] => (text.match(/\{\w+\}/gu) ?? []).toSorted();
  expect(Object.entries(SAID).filter(([en, da]) => placesOf(en).join() !== placesOf(da).join())).toEqual([]);
});

const MAPPING: MappingToCheck = {
  name: 'crm',
  mapping: [
    { field: 'phone', property: 'Phone', policy: 'tracked' },
    { field: 'email', property: 'E_mail', policy: 'tracked' },
    { field: 'street', property: 'Street', policy: 'tracked' },
    { field: 'status', property: 'Status', policy: 'tracked' },
    { field: 'capital', property: 'Capital', policy: 'tracked' },
    { field: 'advertisingProtected', property: 'Protected', policy: 'tracked', optional: true },
  ],
  values: { form: { ApS: 'x' } },
  match: 'number',
  matchTexts: { city: 'town' },
  hold: 'Hold',
};
const COUNTS = { property: 'name', writes: 3, replaced: 2, edits: 1, later: 1 };

test('findings and counts of several sentences are completely Danish', () => {
  const properties = [
    { name: 'Phone', label: 'Phone', type: 'phone', writable: false },
    { name: 'Email', label: 'E-mail', type: 'email', writable: true },
    { name: 'Street', label: 'Street', type: 'string', writable: false, readOnly: 'beregnet' },
    { name: 'Status', label: 'Status', type: 'enumeration', writable: true, options: [{ value: 'A', label: 'A' }] },
    { name: 'Capital', label: 'Capital', type: 'number', writable: true, unique: true },
    { name: 'Number', label: 'Number', type: 'number', writable: true },
    { name: 'Town', label: 'Town', type: 'string', writable: true },
  ] as const;
  const mapped = [new Set<string>(), new Set(['Protected'])].flatMap((creatable) =>
    checkMapping(MAPPING, properties, creatable),
  );
  const jobs = [[], [{ id: '1', name: 'other' }], [{ id: '1', name: 'other', provider: 'other' }]].flatMap((each) =>
    checkJobs(each, ['crm'], 'other'),
  );
  const totals = [0, 90].flatMap((unread) =>
    [10, 200].flatMap((linked) =>
      [0, 1].map((later) => totalsText({ linked, read: 10, unread, properties: [{ ...COUNTS, later }], examples: [] })),
    ),
  );
  const texts = [
    ...[...mapped, ...jobs].flatMap(({ found, advice = found }) => [found, advice]),
    ...totals.map((each) => `it changes fields.name, and that is not accepted yet: ${each}`),
    'paused until 2026-11-27T10:00:00.000Z: no reason stored; tried now: did not answer in time',
    'the webhook at hooks.example is reached (to a GET it answered 302, a redirect to https://a.example/)',
    'refused: POST https://a.example/hook was refused: nothing listens at this address (ECONNREFUSED)',
  ];
  const danish = texts.map((text) => said(readerOf('da'), text));
  expect(texts.filter((_, at) => typeof danish[at] !== 'string')).toEqual([]);
  expect(danish.filter((text) => / (?:the|was|is|and|it|of|not) /u.test(String(text)))).toEqual([]);
});
