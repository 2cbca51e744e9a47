/** Updates: the outcome of each record for every kind of refusal of Salesforce. */
import { describe, expect, it } from 'vitest';
import type { SalesforceEmulatorOptions } from '../../../../providers/kit/salesforce/org/org.ts';
import type { Outcome, PropertyValue } from '../../../../providers/provider.ts';
import { type Bench, live, openBench, paths } from '../setup.ts';

async function openWith(options: SalesforceEmulatorOptions = {}, settings: Record<string, unknown> = {}) {
  const bench = await openBench(options, settings);
  const ids = ['Birk ApS', 'Ege ApS', 'Lind ApS'].map((Name) => bench.emulator.add({ Name }));
  return { bench, ids, first: ids[0] ?? '', second: ids[1] ?? '' };
}
const write = (bench: Bench, id: string, properties: Record<string, PropertyValue>): Promise<readonly Outcome[]> =>
  bench.connection.update([{ id, properties }], live());
const UPDATE = 'POST .*/composite$';
const updateCalls = (bench: Bench) => paths(bench.requests).filter((path) => path.endsWith('/composite')).length;
/** An answer whose update was answered with that; its reads are not. */
const answered = (body: unknown, httpStatusCode = 200) => ({
  kind: 'status' as const,
  status: 200,
  body: { compositeResponse: [{ referenceId: 'update', httpStatusCode, body, httpHeaders: {} }] },
});

describe('updating accounts', () => {
  it('retries a record that another transaction holds, and only that one', async () => {
    const { bench, ids, first } = await openWith();
    bench.emulator.lockRow(first, 2);
    const patches = ids.map((id) => ({ id, properties: { Phone: '1' } }));
    for (const kind of ['retry', 'retry', 'written']) {
      expect((await bench.connection.update(patches, live())).map((o) => o.kind)).toEqual([kind, 'written', 'written']);
    }
  });

  it('names a text that is too long, a bad e-mail and a value not in a restricted picklist', async () => {
    const fields = [{ name: 'Segment__c', type: 'picklist', values: ['A', 'B'], restricted: true }];
    const { bench, first } = await openWith({ fields });
    const bad = { BillingCity: 'x'.repeat(41), CVR_Email__c: 'nobody', Segment__c: 'C' };
    const [outcome] = await write(bench, first, { ...bad, Phone: '1' });
    expect(outcome).toMatchObject({
      kind: 'rejected',
      properties: {
        BillingCity: expect.stringContaining('STRING_TOO_LONG'),
        CVR_Email__c: expect.stringContaining('INVALID_EMAIL_ADDRESS'),
        Segment__c: expect.stringContaining('INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST'),
      },
    });
    expect(bench.emulator.get(first)).toMatchObject({ Phone: null });
    expect((await write(bench, first, { Phone: '1' }))[0]?.kind).toBe('written');
  });

  it.each(['record', 'call'] as const)(
    'names a field that is hidden, if it fails the whole %s',
    async (unknownField) => {
      const { bench, ids } = await openWith({ unknownField });
      await bench.connection.properties(live());
      bench.emulator.hideField('Fax');
      const patches = ids.map((id, at) => ({ id, properties: at === 1 ? { Fax: '9', Phone: '1' } : { Phone: '1' } }));
      const outcomes = await bench.connection.update(patches, live());
      const beside = unknownField === 'call' ? 'call-refused' : 'written';
      expect(outcomes.map((o) => o.kind)).toEqual([beside, 'rejected', beside]);
      expect(outcomes[1]).toEqual({
        kind: 'rejected',
        id: ids[1],
        reason: expect.stringContaining('INVALID_FIELD'),
        properties: { Fax: expect.stringContaining('INVALID_FIELD') },
      });
    },
  );

  it.each<[string, object, readonly string[]]>([
    [
      'only in its message',
      { statusCode: 'INVALID_FIELD', message: "Kolonnen 'Fax' findes ikke", fields: [] },
      ['Fax'],
    ],
    ['in a list in its message', { statusCode: 'REQUIRED_FIELD_MISSING', message: 'Mangler: [Fax]' }, ['Fax']],
    ['in other letter case', { statusCode: 'STRING_TOO_LONG', message: 'x', fields: ['FAX'] }, ['Fax']],
    ['although access is refused', { statusCode: 'INSUFFICIENT_ACCESS', message: 'x', fields: ['Fax'] }, ['Fax']],
    ['as a part of another', { statusCode: 'INVALID_FIELD', message: "No such column 'Fax_Home__c'" }, []],
    ['as a word of a rule', { statusCode: 'FIELD_CUSTOM_VALIDATION_EXCEPTION', message: 'Fax first' }, []],
  ])('leaves out the column that a refusal of one record names %s, and no other', async (_, error, names) => {
    const { bench, first } = await openWith();
    const body = [{ success: false, errors: [error] }];
    bench.emulator.fault({ match: UPDATE, action: answered(body) });
    const [outcome] = await write(bench, first, { Fax: '9', Phone: '1' });
    expect(outcome?.kind === 'rejected' ? Object.keys(outcome.properties) : outcome).toEqual(names);
  });

  it('names the one field whose value refuses a whole call, and blames the call for the others', async () => {
    const { bench, ids } = await openWith();
    for (let at = 0; at < 60; at += 1) ids.push(bench.emulator.add({ Name: `Nr ${at}` }));
    const patches = ids.map((id, at) => ({ id, properties: { CVR_Employees__c: at === 40 ? 'many' : at } }));
    const outcomes = await bench.connection.update(patches, live());
    expect(outcomes.filter((o) => o.kind !== 'call-refused')).toMatchObject([
      { kind: 'rejected', id: ids[40], properties: { CVR_Employees__c: expect.stringContaining('double') } },
    ]);
    expect(updateCalls(bench)).toBe(1);
  });

  const triggered = (message: string, statusCode = 'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY') => ({
    success: false,
    errors: [{ statusCode, message, fields: [] }],
  });

  it("blames the call if the org's own code fails for several records, and the record alone", async () => {
    const { bench, ids, first } = await openWith();
    const error = triggered('AccountTrigger: System.LimitException: Too many SOQL queries: 101');
    bench.emulator.fault({ match: UPDATE, action: answered(ids.map(() => error)) });
    const all = await bench.connection.update(
      ids.map((id) => ({ id, properties: { Phone: '1' } })),
      live(),
    );
    expect(all.map((o) => o.kind)).toEqual(['call-refused', 'call-refused', 'call-refused']);
    bench.emulator.fault({ match: UPDATE, action: answered([error]) });
    expect(await write(bench, first, { Phone: '1' })).toMatchObject([
      { kind: 'rejected', properties: {}, reason: expect.stringContaining('Too many SOQL queries') },
    ]);
  });

  it.each([
    ['that a trigger quotes', triggered('first error: UNABLE_TO_LOCK_ROW, unable to obtain exclusive access'), 0],
    ['of an approval that goes on', triggered('entity is locked for editing', 'ENTITY_IS_LOCKED'), 3_600_000],
    ['of an org that is full', triggered('storage limit exceeded', 'STORAGE_LIMIT_EXCEEDED'), 900_000],
  ])('retries a record for a refusal %s', async (_, error, retryAfterMs) => {
    const { bench, first } = await openWith();
    bench.emulator.fault({ match: UPDATE, action: answered([error]) });
    const [outcome] = await write(bench, first, { Phone: '1' });
    expect(outcome).toMatchObject({ kind: 'retry', ...(retryAfterMs > 0 && { retryAfterMs }) });
  });

  it.each([403, 413])('blames the call if something else than Salesforce answers a write with %d', async (status) => {
    const { bench, first } = await openWith();
    const page = { kind: 'status', status, body: '<html>Access denied</html>' } as const;
    bench.emulator.fault({ match: UPDATE, action: page });
    expect(await write(bench, first, { Phone: '1' })).toMatchObject([
      { kind: 'call-refused', reason: expect.stringContaining('Salesforce did not answer') },
    ]);
  });

  it('refuses the record with the message of a validation rule, without blaming a property', async () => {
    const validationRule = (values: Readonly<Record<string, PropertyValue>>) =>
      values.Phone === null || values.Phone === undefined ? undefined : 'Ring til økonomi først';
    const { bench, first } = await openWith({ validationRule });
    expect(await write(bench, first, { Phone: '1' })).toEqual([
      {
        kind: 'rejected',
        id: first,
        reason: 'Ring til økonomi først (FIELD_CUSTOM_VALIDATION_EXCEPTION)',
        properties: {},
      },
    ]);
  });

  it('writes despite a duplicate alert, unless configured not to, and never past a block', async () => {
    const duplicateRule = ({ Phone }: Readonly<Record<string, PropertyValue>>) =>
      Phone === 'alert' ? 'alert' : Phone === 'block' ? 'block' : undefined;
    const { bench, first } = await openWith({ duplicateRule });
    expect((await write(bench, first, { Phone: 'alert' }))[0]?.kind).toBe('written');
    const [blocked] = await write(bench, first, { Phone: 'block' });
    expect(blocked).toMatchObject({
      kind: 'rejected',
      properties: {},
      reason: expect.stringMatching(/DUPLICATES_DETECTED.*Standard_Account_Duplicate_Rule/),
    });
    const strict = await bench.connect({ allowDuplicates: false });
    expect((await strict.update([{ id: first, properties: { Phone: 'alert' } }], live()))[0]?.kind).toBe('rejected');
  });

  it('refuses two accounts with one CVR number', async () => {
    const { bench, first, second } = await openWith();
    expect((await write(bench, first, { CVR_Number__c: '10150817' }))[0]?.kind).toBe('written');
    expect((await write(bench, second, { CVR_Number__c: '10150817' }))[0]).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining(first.slice(0, 15)),
    });
  });

  it('never lets an address change the owner', async () => {
    const { bench, first } = await openWith();
    const owner = bench.emulator.get(first)?.OwnerId;
    await write(bench, first, { BillingStreet: 'Havnegade 1', BillingCity: 'Aarhus C' });
    expect(bench.emulator.get(first)).toMatchObject({ BillingCity: 'Aarhus C', OwnerId: owner });
  });

  it('writes a country by its code if the picklists are on, and names one that is not configured', async () => {
    const { bench, first } = await openWith({ countries: { DK: 'Denmark', SE: 'Sweden' } });
    expect((await write(bench, first, { BillingCountryCode: 'DK' }))[0]?.kind).toBe('written');
    expect(bench.emulator.get(first)).toMatchObject({ BillingCountry: 'Denmark' });
    expect((await write(bench, first, { BillingCountry: 'Danmark', Phone: '1' }))[0]).toMatchObject({
      kind: 'rejected',
      properties: { BillingCountry: expect.stringContaining('FIELD_INTEGRITY_EXCEPTION') },
    });
  });

  it('names Name on a person account, so that the rest can be written', async () => {
    const { bench } = await openWith({ personAccounts: true });
    const id = bench.emulator.add({ Name: 'Anna Andersen', IsPersonAccount: true });
    const [outcome] = await write(bench, id, { Name: 'Andersen ApS', Phone: '1' });
    expect(outcome).toMatchObject({
      kind: 'rejected',
      properties: { Name: expect.stringContaining('INVALID_FIELD_FOR_INSERT_UPDATE') },
    });
    expect((await write(bench, id, { Phone: '1' }))[0]?.kind).toBe('written');
  });

  it('stores what it will read: edges trimmed, empty as null, a cleared checkbox as false', async () => {
    const { bench, first } = await openWith();
    await write(bench, first, { Phone: '  33 11 22 44 ', Fax: '', CVR_Advertising_Protected__c: true });
    await write(bench, first, { CVR_Advertising_Protected__c: null });
    const names = ['Phone', 'Fax', 'CVR_Advertising_Protected__c'];
    expect(await bench.connection.read([first], names, live())).toMatchObject([
      { properties: { Phone: '33 11 22 44', Fax: null, CVR_Advertising_Protected__c: false } },
    ]);
  });

  it('distinguishes deleted, merged and purged records when they are written', async () => {
    const { bench, ids, first, second } = await openWith();
    const third = ids[2] ?? '';
    const purged = bench.emulator.add({ Name: 'Pil ApS' });
    bench.emulator.remove(first);
    bench.emulator.merge(third, second);
    bench.emulator.remove(purged);
    bench.emulator.purge(purged);
    const outcomes = await bench.connection.update(
      [first, second, third, purged].map((id) => ({ id, properties: { Phone: '1' } })),
      live(),
    );
    expect(outcomes).toEqual([
      { kind: 'gone', id: first },
      { kind: 'moved', id: second, to: third },
      expect.objectContaining({ kind: 'written', id: third }),
      { kind: 'gone', id: purged },
    ]);
  });

  it('keeps what was written when the search for missing records fails', async () => {
    const { bench, first, second } = await openWith();
    bench.emulator.remove(first);
    bench.emulator.fault({ match: 'queryAll', action: { kind: 'status', status: 503 } });
    const outcomes = await bench.connection.update(
      [first, second].map((id) => ({ id, properties: { Phone: '1' } })),
      live(),
    );
    expect(outcomes.map((o) => o.kind)).toEqual(['retry', 'written']);
  });

  it('assumes no success: a result list that is too short leaves the rest to retry', async () => {
    const { bench, ids } = await openWith();
    const body = [{ id: ids[1], success: true, errors: [] }];
    bench.emulator.fault({ match: UPDATE, action: answered(body) });
    const outcomes = await bench.connection.update(
      ids.map((id) => ({ id, properties: { Phone: '1' } })),
      live(),
    );
    expect(outcomes.map((o) => o.kind)).toEqual(['retry', 'written', 'retry']);
  });

  it.each<[string, object, Partial<Outcome>]>([
    ['a result for another record', { id: '001Qy0100000zzzAAA', success: true, errors: [] }, { kind: 'retry' }],
    ['a failure without errors', { success: false, errors: [] }, { kind: 'retry' }],
    [
      'no access',
      { success: false, errors: [{ statusCode: 'INSUFFICIENT_ACCESS_OR_READONLY', message: 'x', fields: [] }] },
      { kind: 'rejected', properties: {} },
    ],
    [
      'errorCode for statusCode',
      { success: false, errors: [{ errorCode: 'STRING_TOO_LONG', message: 'x', fields: ['Phone'] }] },
      { kind: 'rejected', properties: { Phone: 'x (STRING_TOO_LONG)' } },
    ],
    [
      'a value that refers to nothing',
      { success: false, errors: [{ statusCode: 'INVALID_CROSS_REFERENCE_KEY', message: 'x', fields: ['Phone'] }] },
      { kind: 'rejected', properties: { Phone: 'x (INVALID_CROSS_REFERENCE_KEY)' } },
    ],
    [
      'a field that was not sent',
      { success: false, errors: [{ statusCode: 'REQUIRED_FIELD_MISSING', message: 'x', fields: ['Segment__c'] }] },
      { kind: 'rejected', properties: {} },
    ],
  ])('decides %s', async (_label, result, expected) => {
    const { bench, first } = await openWith();
    bench.emulator.fault({ match: UPDATE, action: answered([result]) });
    expect((await write(bench, first, { Phone: '1' }))[0]).toMatchObject({ id: first, ...expected });
  });

  it('blames the country that was sent if Salesforce names the state beside it', async () => {
    const { bench, first } = await openWith();
    const errors = [{ statusCode: 'FIELD_INTEGRITY_EXCEPTION', message: 'x', fields: ['BillingState'] }];
    bench.emulator.fault({
      match: UPDATE,
      action: answered([{ success: false, errors }]),
    });
    const [outcome] = await write(bench, first, { BillingCountry: 'Denmark', Phone: '1' });
    expect(outcome).toMatchObject({
      kind: 'rejected',
      properties: { BillingCountry: 'x (FIELD_INTEGRITY_EXCEPTION)' },
    });
    expect(outcome?.kind === 'rejected' ? Object.keys(outcome.properties) : []).toEqual(['BillingCountry']);
  });

  it('writes 200 records in one call, and the emulator accepts no more', async () => {
    const { bench } = await openWith();
    const ids = Array.from({ length: 201 }, (_, at) => bench.emulator.add({ Name: `Nr ${at}` }));
    const patches = ids.map((id) => ({ id, properties: { Phone: '1' } }));
    expect(new Set((await bench.connection.update(patches.slice(0, 200), live())).map((o) => o.kind))).toEqual(
      new Set(['written']),
    );
    expect(updateCalls(bench)).toBe(1);
  });

  it('returns what each record held before and holds after, in the call that writes', async () => {
    const respell = { BillingCity: (text: string) => text.toUpperCase() };
    const { bench, first, second } = await openWith({ respell });
    bench.emulator.edit(first, { BillingCity: 'Odense C', Phone: '3' });
    bench.emulator.onArrival = () => bench.emulator.edit(second, { Phone: '4' });
    const outcomes = await bench.connection.update(
      [
        { id: first, properties: { BillingCity: ' Aarhus C', NumberOfEmployees: 7 } },
        { id: second, properties: { Phone: '1' } },
      ],
      live(),
    );
    expect(outcomes).toEqual([
      {
        ...{ kind: 'written', id: first },
        replaced: { BillingCity: 'Odense C', NumberOfEmployees: null },
        stored: { BillingCity: 'AARHUS C', NumberOfEmployees: 7 },
      },
      { kind: 'written', id: second, replaced: { Phone: '4' }, stored: { Phone: '1' } },
    ]);
    expect(updateCalls(bench)).toBe(1);
  });

  it.each<[string, unknown, number, RegExp | undefined]>([
    ['a busy org', [{ errorCode: 'SERVER_UNAVAILABLE', message: 'x' }], 503, /cannot answer now/],
    ['a refused connection', [{ errorCode: 'API_DISABLED_FOR_ORG', message: 'x' }], 403, /API_DISABLED_FOR_ORG/],
    ['nothing', undefined, 200, /something else/],
    ['results, but nothing of the reads', [{ id: 'ID', success: true, errors: [] }], 200, undefined],
  ])('treats %s inside the call as the answer to the update', async (_, body, status, fault) => {
    const { bench, first } = await openWith();
    const results = JSON.parse(JSON.stringify(body ?? null).replace('ID', first));
    bench.emulator.fault({ match: UPDATE, action: answered(results, status) });
    const outcomes = write(bench, first, { Phone: '1' });
    if (fault === undefined) expect(await outcomes).toEqual([{ kind: 'written', id: first }]);
    else await expect(outcomes).rejects.toThrow(fault);
  });
});
