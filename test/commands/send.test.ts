import { describe, expect, it, onTestFinished } from 'vitest';
import type { Auth } from '../../src/protocol/auth.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { runCli } from '../support/cli.ts';
import { startFixture } from '../support/fixture.ts';
import { openReceiver } from '../support/receiver.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

async function open(...auth: readonly Auth[]) {
  const store = await newStore('sqlite');
  const receiver = await openReceiver(store, { auth });
  onTestFinished(() => receiver.close());
  const bodies = async () => {
    await receiver.read();
    return store.db.selectFrom('receipt').select(['entity', 'body']).execute();
  };
  return { url: receiver.url, bodies };
}

describe('send', () => {
  it('posts an event about a company, with the requested headers', async () => {
    const { url, bodies } = await open({ method: 'Header', key: 'X-Key', value: 'a sesame' });
    const args = ['send', url, '--entity', 'cvr-1-99000015', '--event', 'status', '--header', 'X-Key: a sesame'];
    const { code, stdout } = await runCli(args);
    expect([code, stdout]).toEqual([0, '204 accepted: status of CVR-1-99000015\n']);
    expect(await bodies()).toEqual([
      { entity: 'CVR-1-99000015', body: expect.stringContaining('"updates":{"status"') },
    ]);
  });

  it('signs, and sends the full state of a company without a named event', async () => {
    const { url, bodies } = await open({ method: 'Signature', secret: SECRET });
    const { code, stdout } = await runCli(['--json', 'send', url, '--secret', SECRET]);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ status: 204, accepted: true })]);
    expect((await bodies())[0]?.body).toContain('"stated":[');
  });

  it('fails if the webhook refuses, and shows its answer', async () => {
    const { url } = await open({ method: 'Header', key: 'X-Key', value: 'a sesame' });
    const { code, stdout } = await runCli(['send', url]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^401 not accepted: .*\n\{"errorMessage":"The webhook does not prove who sent it/);
  });

  it('fails if nothing listens', async () => {
    const { code, stderr } = await runCli(['send', 'http://127.0.0.1:1/webhook?key=sesame']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing listens at this address')]);
    expect(stderr).not.toContain('sesame');
  });

  it.each([
    [['send', 'localhost'], 'is not an address'],
    [['send', 'http://127.0.0.1:1/', '--entity', 'Birk ApS'], 'Birk ApS'],
    [['send', 'http://127.0.0.1:1/', '--event', 'nonsense'], 'is not one of name,'],
    [['send', 'http://127.0.0.1:1/', '--header', 'sesame'], "not of the form 'name: value'"],
    [['send', 'http://127.0.0.1:1/', '--secret', 'sesame'], 'is not of the form whsec_'],
  ])('shows its usage: %j', async (args, message) => {
    const { code, stderr } = await runCli(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('sesame');
  });
});

describe.each(SUITE_ENGINES)('a sample of a linked company, on %s', (engine) => {
  const setUp = async () => {
    const fixture = await startFixture({ engine, connections: { hubspot: { fields: { name: 'name' } } } });
    const id = await fixture.addLinked('hubspot', ENTITY, { name: 'Sand ApS' });
    await fixture.post(renamed(null, 'Sand ApS'));
    await fixture.atRest();
    const name = () => fixture.hubspot.get(id)?.['name'];
    const send = async (...more: readonly string[]) => {
      const sent = await fixture.cli('send', `${fixture.app.url}/webhook`, '--event', 'name', ...more);
      await fixture.atRest();
      return sent;
    };
    return { fixture, id, name, send };
  };

  it('is not sent without a confirmation, which names the record, the damage and the remedy', async () => {
    const { id, name, send } = await setUp();
    const { code, stderr } = await send('--entity', ENTITY);
    expect(code).toBe(2);
    expect(stderr).toContain(`hubspot:${id} is linked to it`);
    expect(stderr).toContain(`cvrsync facts forget ${ENTITY}`);
    expect(stderr).toContain('add --yes, or name a company that no record is linked to');
    expect(name()).toBe('Sand ApS');
  });

  it('is sent with --yes, is audited, and is repaired as the command says', async () => {
    const { fixture, name, send } = await setUp();
    const { code, stdout } = await send('--entity', ENTITY, '--yes');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`cvrsync facts forget ${ENTITY}`)]);
    expect(name()).not.toBe('Sand ApS');
    const [entry] = await readAudit(fixture.app.store.db, {}, 1);
    expect(entry).toMatchObject({ action: 'sample.send', subject: ENTITY, detail: { event: 'name' }, result: 'done' });
    expect((await fixture.cli('facts', 'forget', ENTITY)).code).toBe(0);
    await fixture.post(renamed(null, 'Sand ApS', 9));
    await fixture.atRest();
    expect(name()).toBe('Sand ApS');
  });

  it('is sent at once for another company', async () => {
    const { fixture, send } = await setUp();
    expect(await send('--entity', 'CVR-1-99000015')).toMatchObject({ code: 0 });
    expect(await send()).toMatchObject({ code: 0 });
    expect(await readAudit(fixture.app.store.db, {}, 1)).toEqual([]);
  });
});
