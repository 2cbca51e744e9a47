/** Creating fields: each is also made visible, and what is missing is reported. */
import { describe, expect, it } from 'vitest';
import { salesforce } from '../../../../providers/salesforce/provider.ts';
import { definitions, OWN_FIELDS } from '../../../../providers/salesforce/write/custom-fields.ts';
import { type Bench, live, openBench, paths } from '../setup.ts';

const NONE = { missingFields: OWN_FIELDS.map(({ name }) => name) };
const define = async (bench: Bench, wanted = definitions) =>
  (await bench.connection.defineProperties?.(wanted, live())) ?? [];
const kinds = (defined: readonly { readonly kind: string }[]) => [...new Set(defined.map(({ kind }) => kind))];
const visible = async (bench: Bench) => new Set((await bench.connection.properties(live())).map(({ name }) => name));

describe('defining fields', () => {
  it('creates every field of this project, visible, writable and of its type', async () => {
    const bench = await openBench(NONE);
    const defined = await define(bench);
    expect(defined.map(({ name }) => name)).toEqual(salesforce.definitions?.map(({ name }) => name));
    expect(kinds(defined)).toEqual(['created']);
    const made = new Map((await bench.connection.properties(live())).map((property) => [property.name, property]));
    expect(made.get('CVR_Number__c')).toMatchObject({ type: 'string', maxLength: 20, unique: true, writable: true });
    expect(made.get('CVR_Purpose__c')).toMatchObject({ type: 'multiline', maxLength: 32_000 });
    expect(made.get('CVR_Capital__c')).toMatchObject({ type: 'number', scale: 2 });
    expect(made.get('CVR_Hold__c')).toMatchObject({ type: 'boolean' });
    expect(made.get('CVR_Changed_At__c')).toMatchObject({ type: 'datetime' });
    expect(made.get('CVR_Email__c')).toMatchObject({ type: 'email' });
    const id = bench.emulator.add({ Name: 'A' });
    const properties = { CVR_Number__c: '10103940', CVR_Employees__c: 7 };
    expect(await bench.connection.update([{ id, properties }], live())).toMatchObject([{ kind: 'written', id }]);
  });

  it('creates no field that exists', async () => {
    const bench = await openBench({ missingFields: ['CVR_Capital__c'] });
    const defined = await define(bench);
    expect(defined.filter(({ kind }) => kind === 'created').map(({ name }) => name)).toEqual(['CVR_Capital__c']);
    const before = bench.requests.length;
    expect(kinds(await define(bench))).toEqual(['exists']);
    expect(paths(bench.requests.slice(before)).filter((path) => path.startsWith('POST'))).toEqual([]);
  });

  it('shows a field that exists and is hidden from the user', async () => {
    const bench = await openBench({ hiddenFields: ['CVR_Number__c', 'CVR_Hold__c'] });
    const shown = (await define(bench)).filter(({ kind }) => kind === 'created');
    expect(shown).toEqual(['CVR_Number__c', 'CVR_Hold__c'].map((name) => ({ name, kind: 'created', hidden: true })));
    expect(await visible(bench)).toContain('CVR_Number__c');
    expect(kinds(await define(bench))).toEqual(['exists']);
  });

  it.each([
    ['making a field', 'POST .*/tooling/sobjects/CustomField'],
    ['making the permission set', 'POST .*/sobjects/PermissionSet$'],
    ['showing a field', 'POST .*/sobjects/FieldPermissions'],
    ['giving the permission set', 'POST .*/sobjects/PermissionSetAssignment'],
  ])('has the same result when %s fails or its answer is lost, after a retry', async (_label, match) => {
    for (const action of [
      { kind: 'status', status: 503 },
      { kind: 'reset', applied: true },
    ] as const) {
      const bench = await openBench(NONE);
      bench.emulator.fault({ match, action });
      await expect(define(bench)).rejects.toMatchObject({ fault: 'unavailable' });
      expect(kinds(await define(bench)).every((kind) => kind === 'created' || kind === 'exists')).toBe(true);
      const seen = await visible(bench);
      expect(definitions.filter(({ name }) => !seen.has(name))).toEqual([]);
    }
  });

  it('is refused without the right, with what to ask for, after one call', async () => {
    const bench = await openBench({ ...NONE, mayCustomize: false });
    const defined = await define(bench);
    expect(kinds(defined)).toEqual(['refused']);
    for (const { reason } of defined)
      expect(reason).toMatch(/INSUFFICIENT_ACCESS.*Customize Application.*administrator/);
    expect(paths(bench.requests).filter((path) => path.includes('CustomField')).length).toBe(1);
  });

  it('reports that fields exist but are not seen, without the right to show them', async () => {
    const bench = await openBench({ ...NONE, mayGrant: false });
    for (const { kind, reason } of await define(bench))
      expect([kind, reason]).toEqual(['refused', expect.stringMatching(/exists.*cannot see it.*Permission Sets/)]);
  });

  it('refuses a name that Salesforce would refuse, and creates the others', async () => {
    const bench = await openBench();
    const defined = await define(bench, [
      { name: 'cvr_number', label: 'CVR', type: 'string' },
      { name: 'Group__c', label: 'Group', type: 'string' },
      { name: 'Seen_At__c', label: 'Seen', type: 'datetime' },
    ]);
    expect(defined.map(({ kind }) => kind)).toEqual(['refused', 'created', 'created']);
    expect(defined[0]?.reason).toMatch(/__c/);
    expect(await visible(bench)).toContain('Group__c');
  });
});

describe('removing fields', () => {
  const remove = ({ connection }: Bench, names: readonly string[]) => connection.removeProperties?.(names, live());

  it('deletes those named and no other, once', async () => {
    const bench = await openBench();
    const before = await visible(bench);
    const from = bench.requests.length;
    expect(await remove(bench, ['CVR_Capital__c', 'Website', 'No_Such__c'])).toEqual([
      { name: 'CVR_Capital__c', kind: 'removed' },
      { name: 'Website', kind: 'absent' },
      { name: 'No_Such__c', kind: 'absent' },
    ]);
    const sent = paths(bench.requests.slice(from));
    expect(sent.filter((path) => path.startsWith('DELETE'))).toEqual([
      expect.stringMatching(/tooling\/sobjects\/CustomField\/00N\w{15}$/),
    ]);
    const after = await visible(bench);
    expect([...before].filter((name) => !after.has(name))).toEqual(['CVR_Capital__c']);
    expect(await remove(bench, ['CVR_Capital__c'])).toEqual([{ name: 'CVR_Capital__c', kind: 'absent' }]);
    expect(kinds(await define(bench, [{ name: 'CVR_Capital__c', label: 'Capital', type: 'number' }]))).toEqual([
      'created',
    ]);
  });

  it('gives the reason if one stays, and removes the others', async () => {
    const bench = await openBench();
    const used = [{ message: 'This custom field is referenced elsewhere', errorCode: 'DELETE_FAILED', fields: [] }];
    bench.emulator.fault({ match: 'DELETE .*/CustomField/', action: { kind: 'status', status: 400, body: used } });
    const outcomes = await remove(bench, ['CVR_Capital__c', 'CVR_Form__c']);
    expect(outcomes?.map(({ kind }) => kind)).toEqual(['refused', 'removed']);
    expect(outcomes?.[0]?.reason).toMatch(/referenced elsewhere.*delete it in Setup/);
  });

  it('names the missing rights', async () => {
    const outcomes = await remove(await openBench({ mayCustomize: false }), ['CVR_Capital__c']);
    expect(outcomes).toEqual([
      {
        ...{ name: 'CVR_Capital__c', kind: 'refused' },
        reason: expect.stringMatching(
          /INSUFFICIENT_ACCESS.*Customize Application and View All Data.*delete it in Setup/,
        ),
      },
    ]);
  });

  it('is completed by a retry if an answer was lost', async () => {
    const bench = await openBench();
    bench.emulator.fault({ match: 'DELETE .*/CustomField/', action: { kind: 'reset', applied: true } });
    await expect(remove(bench, ['CVR_Capital__c'])).rejects.toMatchObject({ fault: 'unavailable' });
    expect(await remove(bench, ['CVR_Capital__c'])).toEqual([{ name: 'CVR_Capital__c', kind: 'absent' }]);
  });
});
