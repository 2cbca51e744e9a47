/** The sum over a sample, in the background: with progress, until it is stopped, and with what a CRM's fault leaves of it. */
import { describe, expect, it } from 'vitest';
import { formOf, pressed, setRow, startEdited } from './daemon.ts';

const PAGE = '/settings/mapping/hubspot';

describe('the sum', () => {
  it('counts the effect of unsaved rows in the form', async () => {
    const daemon = await startEdited();
    await daemon.addLinked('hubspot', 1, { name: 'Kunde 1', phone: '12345678' });
    await daemon.addLinked('hubspot', 2, { name: 'Kunde 2' });
    await daemon.settled();
    const before = daemon.text();
    const admin = await daemon.admin();
    const fields = formOf((await admin.get(PAGE)).text);
    const counted = async () => (await admin.get(PAGE)).text;
    await admin.postAll(PAGE, pressed(fields, 'count'));
    await expect.poll(counted).toContain('2 records: 0 blanks filled, 3 values of people kept, 0 overwritten.');
    await admin.postAll(PAGE, pressed(setRow(fields, 'name', 'w', 'always'), 'count'));
    await expect.poll(counted).toContain('2 records: 0 blanks filled, 1 values of people kept, 2 overwritten.');
    expect(await counted()).toContain('people’s values would be lost');
    expect(daemon.text()).toBe(before);
  });

  it('uses an invented company while no record is linked, and says so', async () => {
    const daemon = await startEdited();
    daemon.hubspot.add({ name: 'Birk' });
    const admin = await daemon.admin();
    const { text } = await admin.get(PAGE);
    expect(text).toContain('No record is linked yet. The register’s values are those of an invented company.');
    await admin.postAll(PAGE, pressed(formOf(text), 'count'));
    await expect
      .poll(async () => (await admin.get(PAGE)).text)
      .toMatch(/1 records: \d+ blanks filled, 1 values of people/);
  });

  it('shows its progress while the CRM is slow, keeps the page unchanged, and stops on request', async () => {
    const daemon = await startEdited();
    await daemon.addLinked('hubspot', 1, {});
    await daemon.settled();
    const admin = await daemon.admin();
    const fields = formOf((await admin.get(PAGE)).text);
    daemon.hubspot.fault({ match: 'batch/read', times: 'always', action: { kind: 'hang' } });
    const begun = (await admin.postAll(PAGE, pressed(fields, 'count'))).text;
    expect(begun).toMatch(/id="sum" data-live="soon"/);
    expect(begun).toMatch(/<progress max="\d+" value="0"/);
    expect(begun).toContain('No record can be shown');
    const stopped = (await admin.postAll(PAGE, pressed(fields, 'cancel'))).text;
    expect(stopped).toContain('stopped');
    expect(stopped).toMatch(/id="sum" data-now/);
  });

  it("shows the CRM's refusal", async () => {
    const daemon = await startEdited();
    await daemon.addLinked('hubspot', 1, {});
    await daemon.settled();
    const admin = await daemon.admin();
    const fields = formOf((await admin.get(PAGE)).text);
    const action = { kind: 'status', status: 401, body: {} } as const;
    daemon.hubspot.fault({ match: 'batch/read', times: 'always', action });
    await admin.postAll(PAGE, pressed(fields, 'count'));
    await expect.poll(async () => (await admin.get(PAGE)).text).toMatch(/id="sum".*role="alert".*Count again/su);
  });
});
