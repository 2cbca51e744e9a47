/** The emulator is strict about tasks, notes and fields too. */
import { describe, expect, it } from 'vitest';
import type { SalesforceEmulatorOptions } from '../../../../providers/kit/salesforce/org/org.ts';
import { code, openApi } from '../../salesforce/raw.ts';

async function openWith(options: SalesforceEmulatorOptions = {}) {
  const api = await openApi(options);
  const id = api.emulator.add({ Name: 'Birk ApS' });
  const post = async (path: string, body: object) => code(await api.call('POST', path, body));
  return { ...api, id, post };
}

describe('the emulated Salesforce', () => {
  it('changes the owner of a new account that does not say no', async () => {
    const { emulator, call, id } = await openWith();
    const { status, json } = await call('POST', '/sobjects/Account', { Name: 'Ny ApS', BillingCity: 'Ribe' });
    expect(status).toBe(201);
    expect(emulator.get(json.id)?.OwnerId).not.toBe(emulator.get(id)?.OwnerId);
  });

  it('lets a duplicate alert pass only on request, and makes nothing read-only', async () => {
    const { post } = await openWith({ duplicateRule: ({ Name }) => (Name === 'B' ? 'alert' : undefined) });
    expect(await post('/sobjects/Account', { Name: 'B' })).toEqual([400, 'DUPLICATES_DETECTED']);
    expect(await post('/sobjects/Account', { Name: 'C', SystemModstamp: '2026-01-01T00:00:00Z' })).toEqual([
      400,
      'INVALID_FIELD_FOR_INSERT_UPDATE',
    ]);
    expect(await post('/sobjects/Account', { Phone: '1' })).toEqual([400, 'REQUIRED_FIELD_MISSING']);
  });

  it('puts tasks on live accounts only, with a status the org has', async () => {
    const { emulator, id, post } = await openWith();
    const task = { WhatId: id, Subject: 's', Status: 'Completed' };
    expect(await post('/sobjects/Task', { ...task, Status: 'Done' })).toEqual([
      400,
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
    ]);
    expect(await post('/sobjects/Task', { ...task, Subject: 'x'.repeat(256) })).toEqual([400, 'STRING_TOO_LONG']);
    expect(await post('/sobjects/Task', { ...task, Text: 'x' })).toEqual([400, 'INVALID_FIELD']);
    emulator.remove(id);
    expect(await post('/sobjects/Task', task)).toEqual([400, 'INVALID_CROSS_REFERENCE_KEY']);
  });

  it('filters by no long text, and lists the files of one record at a time', async () => {
    const { query } = await openWith();
    expect(code(await query("SELECT Id FROM Task WHERE Description = 'x'"))).toEqual([400, 'INVALID_FIELD']);
    expect(code(await query('SELECT Id FROM ContentDocumentLink'))).toEqual([400, 'MALFORMED_QUERY']);
    expect(code(await query('SELECT Id FROM ValidationRule'))).toEqual([400, 'INVALID_TYPE']);
    expect(code(await query('SELECT Id FROM ValidationRule', 'tooling/query'))).toEqual([200, undefined]);
  });

  it('accepts the content of a note as base64 of escaped HTML', async () => {
    const { post } = await openWith();
    const note = (html: string) => ({ Title: 't', Content: Buffer.from(html).toString('base64') });
    expect(await post('/sobjects/ContentNote', note('a &amp; b<br>c'))).toEqual([201, undefined]);
    for (const html of ['a & b', '<script>']) {
      expect(await post('/sobjects/ContentNote', note(html))).toEqual([400, 'UNKNOWN_EXCEPTION']);
    }
    expect(await post('/sobjects/ContentNote', { Title: 't', Content: 'not base64' })).toEqual([
      400,
      'UNKNOWN_EXCEPTION',
    ]);
  });

  it('rolls back all of a composite call if one part of it fails', async () => {
    const { call, query } = await openWith();
    const part = (object: string, referenceId: string, body: object) => ({
      method: 'POST',
      url: `/services/data/v67.0/sobjects/${object}`,
      referenceId,
      body,
    });
    const { json } = await call('POST', '/composite', {
      allOrNone: true,
      compositeRequest: [
        part('ContentNote', 'note', { Title: 't', Content: 'YQ==' }),
        part('ContentDocumentLink', 'link', { ContentDocumentId: '@{note.id}', LinkedEntityId: 'x', ShareType: 'V' }),
      ],
    });
    expect(json.compositeResponse).toMatchObject([
      { httpStatusCode: 400, body: [{ errorCode: 'PROCESSING_HALTED' }] },
      { httpStatusCode: 400, body: [{ errorCode: 'INVALID_CROSS_REFERENCE_KEY' }] },
    ]);
    expect((await query('SELECT Id FROM ContentNote')).json.records).toEqual([]);
  });

  it('shows a new field to nobody until a permission set of the user does', async () => {
    const { call, post, query } = await openWith();
    const field = { FullName: 'Account.Group__c', Metadata: { label: 'Group', type: 'Text', length: 80 } };
    expect(
      await post('/tooling/sobjects/CustomField', { ...field, Metadata: { label: 'Group', type: 'Text' } }),
    ).toEqual([400, 'FIELD_INTEGRITY_EXCEPTION']);
    expect(await post('/tooling/sobjects/CustomField', field)).toEqual([201, undefined]);
    expect(await post('/tooling/sobjects/CustomField', field)).toEqual([400, 'DUPLICATE_DEVELOPER_NAME']);
    expect(code(await query('SELECT Group__c FROM Account'))).toEqual([400, 'INVALID_FIELD']);
    const { json } = await call('POST', '/sobjects/PermissionSet', { Name: 'p', Label: 'p' });
    const permission = { ParentId: json.id, SobjectType: 'Account', Field: 'Account.Group__c', PermissionsRead: true };
    expect(await post('/sobjects/FieldPermissions', permission)).toEqual([201, undefined]);
    expect(code(await query('SELECT Group__c FROM Account'))).toEqual([400, 'INVALID_FIELD']);
    const assignment = { PermissionSetId: json.id, AssigneeId: '005Qy000000Us1AIAS' };
    await post('/sobjects/PermissionSetAssignment', { ...assignment, AssigneeId: '005Qy000000Us2AIAS' });
    expect(code(await query('SELECT Group__c FROM Account'))).toEqual([400, 'INVALID_FIELD']);
  });

  it('stamps changes by the second and sorts by them', async () => {
    const clock = { now: Date.parse('2026-10-01T08:00:00.900Z') };
    const { emulator, query } = await openApi({ now: () => clock.now });
    const [a = '', b = ''] = ['A', 'B'].map((Name) => emulator.add({ Name }));
    clock.now += 200;
    emulator.edit(a, { Phone: '1' });
    const soql =
      'SELECT Id, SystemModstamp FROM Account WHERE SystemModstamp >= 2026-10-01T08:00:00Z ORDER BY SystemModstamp';
    expect((await query(`${soql}, Id`)).json.records).toMatchObject([
      { Id: b, SystemModstamp: '2026-10-01T08:00:00.000+0000' },
      { Id: a, SystemModstamp: '2026-10-01T08:00:01.000+0000' },
    ]);
    expect((await query(`${soql} DESC LIMIT 1`)).json.records).toMatchObject([{ Id: a }]);
  });
});
