/** What belongs to a row: composed texts, letters, values out of the CRM's options; and for which records the mapping is. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { formOf, pressed, setRow, startEdited } from './daemon.ts';

const PAGE = '/settings/mapping/hubspot';
const KB = 1_000;
const STATUS = { name: 'own_status', label: 'Own status', type: 'enumeration', options: ['active', 'closed'] } as const;

it('values of the CRM are offered from its options, and saved with texts and letter case', async () => {
  const daemon = await startEdited({ hubspot: { properties: [STATUS, { name: 'own_text', type: 'string' }] } });
  const id = await daemon.addLinked('hubspot', 1, {});
  await daemon.settled();
  const admin = await daemon.admin();
  let fields = formOf((await admin.get(PAGE)).text);
  fields = setRow(fields, 'status', 'p', 'own_status');
  const at = fields.getAll('f').indexOf('status');
  const opened = (await admin.postAll(PAGE, pressed(fields, `open:${at}`))).text;
  expect(opened).toContain('The CRM offers 2 options.');
  expect(opened).toMatch(/<datalist id="options">.*value="active"/su);
  expect(opened).toMatch(/<datalist id="known">.*value="NORMAL"/su);
  fields = formOf(opened);
  fields.append('k', 'NORMAL');
  fields.append('o', 'active');
  fields.append('k', '*');
  fields.append('o', 'closed');
  // Another row is opened: what was typed stays with the field.
  fields = formOf((await admin.postAll(PAGE, pressed(fields, 'open:0'))).text);
  expect(JSON.parse(fields.get('v') ?? '')).toEqual({ status: { NORMAL: 'active', '*': 'closed' } });
  fields.set('case', 'upper');
  const added = new URLSearchParams(fields);
  added.delete('op');
  const names = fields.getAll('f');
  names[names.length - 1] = 'composed';
  added.delete('f');
  for (const name of names) added.append('f', name);
  const properties = fields.getAll('p');
  properties[properties.length - 1] = 'own_text';
  added.delete('p');
  for (const property of properties) added.append('p', property);
  const refused = await admin.postAll(PAGE, pressed(added, 'save'));
  expect(refused.text).toContain('needs a text, such as');
  const last = formOf(refused.text).getAll('f').indexOf('composed');
  const composing = formOf((await admin.postAll(PAGE, pressed(formOf(refused.text), `open:${last}`))).text);
  composing.set('text', 'CVR: {name}');
  composing.set('op', 'lifecyclestage');
  composing.set('ov', 'customer\nlead\n');
  expect((await admin.postAll(PAGE, pressed(composing, 'save'))).status).toBe(303);
  const { fields: rules, values, only } = parse(daemon.text()).connector.providers.hubspot;
  expect(values).toEqual({ status: { NORMAL: 'active', '*': 'closed' } });
  expect(only).toEqual({ lifecyclestage: ['customer', 'lead'] });
  expect(rules.composed).toEqual({ property: 'own_text', text: 'CVR: {name}' });
  expect(JSON.stringify(rules)).toContain('"case":"upper"');
  const again = (await admin.get(PAGE)).text;
  expect(formOf(again).get('ov')).toBe('');
  expect(again).toContain('customer');
  expect(daemon.hubspot.get(id)).toMatchObject({ own_text: null });
});

it('of 900 properties each page stays below 60 kB, in Danish, too', async () => {
  const properties = Array.from({ length: 900 }, (_, at) => ({
    name: `own_property_of_the_account_${at}`,
    label: `Own property ${at}`,
    type: 'string' as const,
  }));
  const options = Array.from({ length: 300 }, (_, at) => `option_of_the_account_${at}`);
  const daemon = await startEdited({ hubspot: { properties: [...properties, { ...STATUS, options }] } });
  await daemon.addLinked('hubspot', 1, {});
  await daemon.settled();
  const admin = await daemon.admin();
  const { text } = await admin.get(PAGE, { 'accept-language': 'da' });
  const fields = setRow(formOf(text), 'status', 'p', 'own_status');
  const opened = await admin.postAll(PAGE, pressed(fields, `open:${fields.getAll('f').indexOf('status')}`));
  expect([text, opened.text].map((each) => Buffer.byteLength(each)).filter((bytes) => bytes > 60 * KB)).toEqual([]);
  expect((await admin.get(`${PAGE}?find=ACCOUNT_899`)).text).toContain('<code>own_property_of_the_account_899</code>');
});
