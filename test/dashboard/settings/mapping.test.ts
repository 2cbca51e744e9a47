/** The mapping of a connection, edited on its page under Settings: in the file, with its comments, and as a proposal. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { formOf, pressed, setRow, startEdited } from './daemon.ts';

const PAGE = '/settings/mapping/hubspot';
/** The rule of the name, whose second property is the preset's. */
const named = (policy: string) => [{ property: 'name', policy }, 'cvr_name'];
const withComments = (content: object): string =>
  `# Ours.\n${stringify(content)}`.replace('    hubspot:\n', '    hubspot: # of Ida\n');

it('saves a row in the file with its comments, and its changes to records wait for acceptance', async () => {
  const daemon = await startEdited({ before: withComments });
  const id = await daemon.addLinked('hubspot', 1, { name: 'Kunde 1' });
  await daemon.settled();
  expect(daemon.hubspot.get(id)).toMatchObject({ name: 'Kunde 1' });
  const admin = await daemon.admin();
  const page = await admin.get(PAGE);
  expect(page.status).toBe(200);
  expect(page.text).toContain(`<code>${id}</code>`);
  const fields = setRow(formOf(page.text), 'name', 'w', 'always');
  const drawn = await admin.postAll(PAGE, pressed(fields, 'draw'));
  expect(drawn.text).toMatch(/Kunde 1.*differs, will be written.*always/su);
  const saved = await admin.postAll(PAGE, pressed(fields, 'save'));
  expect([saved.status, saved.headers['location']]).toEqual([303, `/settings/saved?next=${encodeURIComponent(PAGE)}`]);
  const text = daemon.text();
  expect(text).toMatch(/^# Ours\.\n/u);
  expect(text).toContain('# of Ida\n');
  expect(parse(text).connector.providers.hubspot.fields).toEqual({ name: named('always') });
  await daemon.settled();
  await expect.poll(async () => (await admin.get('/settings/saved')).text).toContain('waits for your word');
  expect(daemon.hubspot.get(id)).toMatchObject({ name: 'Kunde 1' });
  expect((await admin.get('/audit')).text).toContain('settings.save');
});

it('refuses invalid rows, and shows the error beside the typed value', async () => {
  const daemon = await startEdited();
  await daemon.addLinked('hubspot', 1, {});
  const admin = await daemon.admin();
  const before = daemon.text();
  const fields = formOf((await admin.get(PAGE)).text);
  const twice = setRow(fields, 'phone', 'p', 'name');
  const refused = await admin.postAll(PAGE, pressed(twice, 'save'));
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('is already written by name');
  expect(formOf(refused.text).getAll('p')).toEqual(twice.getAll('p'));
  expect(daemon.text()).toBe(before);
});

it('says that the file changed meanwhile, and overwrites it only on confirmation', async () => {
  const daemon = await startEdited();
  const [ida, bo] = [await daemon.admin(), await daemon.admin()];
  const fields = setRow(formOf((await ida.get(PAGE)).text), 'name', 'w', 'if-blank');
  const other = setRow(formOf((await bo.get(PAGE)).text), 'phone', 'w', 'never');
  expect((await bo.postAll(PAGE, pressed(other, 'save'))).status).toBe(303);
  const theirs = daemon.text();
  const conflict = await ida.postAll(PAGE, pressed(fields, 'save'));
  expect([conflict.status, daemon.text()]).toEqual([409, theirs]);
  expect(conflict.text).toContain('was changed since you opened this page');
  expect(conflict.text).toContain('connector.providers.hubspot.fields.phone');
  const [, file = ''] = /name="file" value="([^"]+)"/u.exec(conflict.text) ?? [];
  expect((await ida.post('/settings/save', { file: 'another', next: PAGE })).status).toBe(409);
  expect((await ida.post('/settings/save', { file, next: PAGE })).status).toBe(303);
  expect(parse(daemon.text()).connector.providers.hubspot.fields).toEqual({ name: named('if-blank') });
});

it('shows the lines to paste if the file is read-only, and discards them on request', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  const before = daemon.text();
  chmodSync(daemon.file, 0o444);
  const fields = setRow(formOf((await admin.get(PAGE)).text), 'name', 'w', 'always');
  const refused = await admin.postAll(PAGE, pressed(fields, 'save'));
  expect([refused.status, daemon.text()]).toEqual([409, before]);
  const [, lines = ''] = /<pre[^>]*>(.*?)<\/pre>/su.exec(refused.text) ?? [];
  expect(parse(lines)).toEqual({
    connector: { providers: { hubspot: { fields: { name: named('always') } } } },
  });
  expect((await admin.get(PAGE)).text).toContain('You changed something that is not saved yet.');
  await admin.post('/settings/discard', {});
  expect((await admin.get(PAGE)).text).not.toContain('is not saved yet');
});

it('names the line of an error, and edits nothing', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  writeFileSync(daemon.file, `${readFileSync(daemon.file, 'utf8')}logLevel: "warn\n`);
  const { status, text } = await admin.get(PAGE);
  expect(status).toBe(409);
  expect(text).toMatch(/Line \d+:.*the quote that opens here is not closed/su);
});

it('edits a file with anchors so that only the one connection changes', async () => {
  const before = (content: object): string => {
    const { connector, ...others } = JSON.parse(JSON.stringify(content));
    const { hubspot, salesforce } = connector.providers;
    const providers = { hubspot: { ...hubspot, hold: 'HOLD' }, salesforce: { ...salesforce, hold: 'HOLD' } };
    const text = stringify({ ...others, connector: { ...connector, providers } });
    let isFirst = true;
    return text.replaceAll('hold: HOLD', () => {
      const line = isFirst ? 'fields: &f { phone: false } # shared' : 'fields: *f';
      isFirst = false;
      return line;
    });
  };
  const daemon = await startEdited({ connections: {}, before });
  const admin = await daemon.admin();
  const fields = setRow(formOf((await admin.get(PAGE)).text), 'name', 'w', 'never');
  expect((await admin.postAll(PAGE, pressed(fields, 'save'))).status).toBe(303);
  const { providers } = parse(daemon.text()).connector;
  expect(providers.hubspot.fields).toEqual({ phone: false, name: named('never') });
  expect(providers.salesforce.fields).toEqual({ phone: false });
  expect(daemon.text()).toContain('# shared');
});
