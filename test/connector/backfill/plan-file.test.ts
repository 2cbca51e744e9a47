/** A plan as a file: written for people and spreadsheets, read as those leave it. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../src/connector/backfill/plan/read-plan.ts';
import { decideLink } from '../../../src/connector/follow/decide-link.ts';
import { findLink } from '../../../src/connector/links/links.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { newFolder, SUITE_ENGINES } from '../../support/stores.ts';
import { startFixture } from './fixture.ts';
import { apply, applyLines, newFile, plan } from './plan-runs.ts';

const A = 'CVR-1-10150817';

describe.each(SUITE_ENGINES)('a plan on %s', (engine) => {
  it('lists every record, and is applied unchanged', async () => {
    const fixture = await startFixture({ engine });
    const [one, two, three] = [
      fixture.add('DK 10 15 08 17'),
      fixture.add('ukendt', { name: 'Æble; "A/S"' }),
      fixture.add(''),
    ];
    const file = newFile();
    expect((await fixture.run({ ...plan(file), trust: 'register' })).ended).toBe('planned');
    // For its owner only: it holds the customers of somebody.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').split('\r\n')).toEqual([
      '\uFEFFrecord;name;number;verdict;action;note;scanned',
      `${one};Opdigtet ApS;10150817;matched;link;;DK 10 15 08 17`,
      `${two};"Æble; ""A/S""";ukendt;invalid;skip;the number has other characters than digits and separators;ukendt`,
      `${three};Opdigtet ApS;;no-number;skip;;`,
      '',
    ]);
    expect((await fixture.run(apply(file))).ended).toBe('done');
    expect(await fixture.links()).toEqual({ [one]: `${A} number register active` });
  });

  it('is applied as a person edited it', async () => {
    const fixture = await startFixture({ engine });
    const [skipped, twin, other, given, unnamed] = [
      fixture.add('10150817'),
      fixture.add('12345674'),
      fixture.add('DK12345674'),
      fixture.add('ukendt'),
      fixture.add('20000007'),
    ];
    await fixture.run(plan(newFile()));
    await applyLines(fixture, [
      'Record;Number;Action',
      `${skipped};10150817;skip`,
      `${twin};12345674;LINK`,
      `${other};12345674; skip `,
      `${given};30000005;link`,
    ]);
    expect(await fixture.links()).toEqual({
      [twin]: 'CVR-1-12345674 number crm active',
      [given]: 'CVR-1-30000005 person crm active',
    });
    expect((await fixture.rows())[unnamed]).toBe('matched skip planned');
    expect(await fixture.outcome()).toMatchObject({ linked: 2, toLink: 0, person: 1 });
  });

  it('does not apply a row whose number changed since, and names the old number', async () => {
    const fixture = await startFixture({ engine });
    const [changed, moved, stays] = [fixture.add('10150817'), fixture.add('20000007'), fixture.add('12345674')];
    const file = newFile();
    await fixture.run(plan(file));
    fixture.emulator.edit(changed, { cvr_number: '30000005' });
    const survivor = fixture.emulator.merge(fixture.add(null), moved);
    await fixture.run(apply(file));
    expect(await fixture.rows()).toMatchObject({
      [changed]: 'changed skip done',
      [moved]: 'moved skip done',
      [stays]: 'matched link done',
    });
    expect(await fixture.note(changed)).toBe('its number was 10150817 when the plan was made, and is 30000005 now');
    // The survivor is no row of the plan: it stands for the one that was merged into it, with the number of that.
    expect(await fixture.links()).toEqual({
      [stays]: 'CVR-1-12345674 number crm active',
      [survivor]: 'CVR-1-20000007 number crm active',
    });
  });

  it('does not treat a number in a plan of an earlier scan or another account as a correction', async () => {
    const fixture = await startFixture({ engine });
    const [corrected, given, blank] = [fixture.add('10150817'), fixture.add('ukendt æ'), fixture.add(null)];
    fixture.emulator.edit(corrected, { cvr_number: '30000005' });
    await fixture.run({ mode: { kind: 'look' } });
    await applyLines(fixture, [
      'record;number;action;scanned',
      `${corrected};10150817;link;1015 0817`,
      `${given};20000007;link;ukendt \uFFFD`,
      `${blank};1000004;link;01000004`,
    ]);
    expect(await fixture.rows()).toEqual({
      [corrected]: 'changed skip done',
      [given]: 'invalid link done',
      [blank]: 'changed skip done',
    });
    expect(await fixture.note(corrected)).toBe('its number was 1015 0817 when the plan was made, and is 30000005 now');
    expect(await fixture.links()).toEqual({ [given]: 'CVR-1-20000007 person crm active' });
    expect((await fixture.outcome()).person).toBe(2);
  });

  it('also confirms the number in the record, so that nobody is asked again', async () => {
    const fixture = await startFixture({ engine });
    const id = fixture.add('DK 10 15 08 17');
    await fixture.run(plan(newFile()));
    await applyLines(fixture, ['record;number;action;scanned', `${id};30000005;link;DK 10 15 08 17`]);
    const link = await findLink(fixture.store.db, { provider: 'hubspot', recordId: id });
    expect(link).toMatchObject({ entity: 'CVR-1-30000005', origin: 'person' });
    const read = { kind: 'found', id, properties: { cvr_number: 'DK 10 15 08 17' } } as const;
    const rule = { match: 'cvr_number', autoLink: true, isHeld: () => false };
    expect(decideLink(link, read, rule)).toEqual({ kind: 'nothing' });
  });

  it('resumes with the same file, and starts over with another one', async () => {
    const fixture = await startFixture({ engine });
    const ids = Array.from({ length: 6 }, (_, at) => fixture.add(cvrNumber(at)));
    const file = newFile();
    await fixture.run(plan(file));
    expect((await fixture.run({ ...apply(file), limit: 2 })).ended).toBe('limited');
    expect((await fixture.run({ ...apply(file), limit: 2 })).ended).toBe('limited');
    expect(Object.keys(await fixture.links())).toHaveLength(4);
    const [first = '', , , , last = '', left = ''] = ids;
    await applyLines(fixture, [
      'record;number;action',
      `${first};${cvrNumber(0)};link`,
      `${last};${cvrNumber(4)};link`,
    ]);
    expect(Object.keys(await fixture.links()).includes(left)).toBe(false);
    expect(fixture.service.changes).toHaveLength(5);
  });
});

describe('a file that a spreadsheet saved', () => {
  const lines = (id: string): readonly string[] => [
    'record;name;number;verdict;action',
    `${id};Æbler;1000004;matched;link`,
  ];
  const utf16 = (text: string): Buffer => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

  it.each([
    ['with semicolons and no mark', (id: string) => lines(id).join('\n')],
    ['with a mark and CRLF', (id: string) => `\uFEFF${lines(id).join('\r\n')}\r\n\r\n`],
    ['with commas', (id: string) => lines(id).join('\n').replaceAll(';', ',')],
    ['with tabs', (id: string) => lines(id).join('\n').replaceAll(';', '\t')],
    ['with its own line for the separator', (id: string) => `sep=;\r\n${lines(id).join('\r\n')}`],
    ['in UTF-16', (id: string) => utf16(lines(id).join('\r\n').replaceAll(';', '\t'))],
    ['in the code page of Windows', (id: string) => latin(lines(id).join('\r\n'))],
    ['with columns in another order, and others', (id: string) => `x;action;number;record\n;link;1000004;${id};;;\n`],
    [
      'with quotes and blanks',
      (id: string) => `"record" ; "number";action\n"${id}"; 1000004 ;"link"\n`.replace('" ; "', '";"'),
    ],
    ['with rows that were cleared', (id: string) => `${lines(id).join('\r\n;;;;\r\n')}\r\n;; ;;\r\n`],
    ['with an apostrophe before a number', (id: string) => `record;number;action\n'${id};'1000004;link`],
  ])('%s is read, and the lost zero is given back', async (_, content) => {
    const fixture = await startFixture();
    const id = fixture.add('01000004');
    await fixture.run(plan(newFile()));
    const file = newFile();
    writeFileSync(file, content(id));
    await fixture.run(apply(file));
    expect(await fixture.links()).toEqual({ [id]: 'CVR-1-01000004 number crm active' });
  });

  it('contains no formula', async () => {
    const fixture = await startFixture();
    for (const name of ['=1+1', '+45', '-x', '@sum', '\tx', 'a,=1+1', 'a, "@sum', 'a\t+45'])
      fixture.add(`=HYPERLINK('${name}')`, { name });
    const file = newFile();
    await fixture.run(plan(file));
    const cells = readFileSync(file, 'utf8')
      .slice(1)
      // An Excel of another country parts cells at commas.
      .split(/[,;\t\r\n]+ *"*/u);
    expect(cells.filter((cell) => /^"?[=+\-@\t]/u.test(cell))).toEqual([]);
    expect((await fixture.run(apply(file))).ended).toBe('done');
  });
});

describe('a file that cannot be applied', () => {
  const refusals = async (lines: (one: string, two: string) => readonly string[]): Promise<string> => {
    const fixture = await startFixture();
    const [one, two] = [fixture.add('10150817'), fixture.add(null)];
    await fixture.run(plan(newFile()));
    const said = await applyLines(fixture, lines(one, two)).then(
      () => 'applied',
      (error: Error) => error.message,
    );
    expect([Object.keys(await fixture.links()), fixture.service.changes]).toEqual([[], []]);
    expect((await fixture.rows())[one]).toBe('matched link planned');
    return said;
  };

  it.each<[string, (one: string, two: string) => readonly string[], RegExp]>([
    [
      'misses columns',
      () => ['record;name', '1;x'],
      /line 1: the first line has no column number, action: it has record, name/u,
    ],
    ['is empty', () => [''], /line 1: the file is empty/u],
    [
      'names records of elsewhere',
      () => ['record;number;action', '77;10150817;link'],
      /line 2: record 77 is not among those/u,
    ],
    [
      'asks for what nobody knows',
      (one) => ['record;number;action', `${one};10150817;delete`],
      /line 2: the action of record \d+ is delete: write link, skip or reject/u,
    ],
    ['leaves an action blank', (one) => ['record;number;action', `${one};10150817;`], /is blank: write link, skip/u],
    ['leaves a record blank', () => ['record;number;action', ';10150817;link'], /line 2: the record is blank/u],
    [
      'names a record twice',
      (one) => ['record;number;action', `${one};10150817;skip`, '', `${one};10150817;link`],
      /line 4: record \d+ is already in line 2/u,
    ],
    [
      'links what has no number',
      (_, two) => ['record;number;action', `${two};;link`],
      /line 2: record \d+ cannot be linked: it has no number/u,
    ],
    [
      'links what is no number',
      (one) => ['record;number;action', `${one};1,0E+07;link`],
      /1,0E\+07 is not a CVR number/u,
    ],
    [
      'holds rounded ids',
      () => ['record;number;action', '1,8E+10;10150817;link'],
      /the spreadsheet rounded the record id to 1,8E\+10/u,
    ],
    ['is torn', (one) => ['record;number;action', `"${one};10150817;link`], /cannot be read as CSV/u],
  ])('because it %s says so, with the line, and changes nothing', async (_, lines, message) => {
    const said = await refusals(lines);
    expect(said).toMatch(/^the plan .* cannot be applied, and nothing of it was:/u);
    expect(said).toMatch(message);
  });

  it('lists the first twenty problems and counts the rest', async () => {
    const said = await refusals(() => [
      'record;number;action',
      ...Array.from({ length: 30 }, (_, at) => `x${at};1;link`),
    ]);
    expect(said.split('\n').filter((line) => line.includes('line '))).toHaveLength(20);
    expect(said).toContain('and 10 more');
  });
});

it('is refused without a scan, if it is missing, and with a restart', async () => {
  const { run } = await startFixture();
  const file = newFile();
  await expect(run(apply(file))).rejects.toThrow('there is no plan');
  await expect(run(apply(newFolder()))).rejects.toThrow('there is no plan');
  writeFileSync(file, 'record;number;action\n1;10150817;link');
  await expect(run(apply(file))).rejects.toThrow('make the plan here first');
  await expect(run({ ...apply(file), restart: true })).rejects.toThrow('--restart forgets');
});

it('overwrites no file, and leaves no incomplete one', async () => {
  const fixture = await startFixture();
  for (let at = 0; at < 300; at++) fixture.add(cvrNumber(at));
  const [kept, cut] = [newFile(), newFile()];
  writeFileSync(kept, 'mine');
  await expect(fixture.run(plan(kept))).rejects.toThrow('is there already');
  expect(readFileSync(kept, 'utf8')).toBe('mine');
  await expect(fixture.run(plan(join(kept, '..', 'none', 'plan.csv')))).rejects.toThrow('there is no folder');
  expect(fixture.steps).toEqual([]);
  const stop = new AbortController();
  const { report } = fixture.deps;
  Object.assign(fixture.deps, {
    report: (step: Parameters<typeof report>[0]) => {
      if (step.written !== undefined) stop.abort(new Error('enough'));
      report(step);
    },
  });
  await expect(fixture.run(plan(cut), stop.signal)).rejects.toThrow('enough');
  expect([existsSync(cut), existsSync(`${cut}.part`)]).toEqual([false, false]);
  // The scan is not made again for it.
  Object.assign(fixture.deps, { report });
  const scans = (): number => fixture.steps.filter(({ phase }) => phase === 'scan').length;
  const before = scans();
  await fixture.run(plan(cut));
  expect([existsSync(cut), scans()]).toEqual([true, before]);
});

it('streams a file of any length', async () => {
  const file = newFile();
  const line = (at: number): string => `${at};${'x'.repeat(100)};10150817;link`;
  writeFileSync(file, ['record;name;number;action', ...Array.from({ length: 20_000 }, (_, at) => line(at))].join('\n'));
  let count = 0;
  for await (const one of readPlan(file, (id) => ({ kind: 'id', id }))) {
    expect(one).toMatchObject({ line: count + 2, recordId: String(count) });
    count += 1;
  }
  expect(count).toBe(20_000);
});
