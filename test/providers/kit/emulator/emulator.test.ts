/** The faults that every emulator can have, at the wire. */
import { expect, it, onTestFinished } from 'vitest';
import {
  type EmulatorHandler,
  type ScriptedFault,
  serveEmulator,
} from '../../../../providers/kit/emulator/emulator.ts';

async function serve(faults: readonly ScriptedFault[], handle: EmulatorHandler) {
  const served = await serveEmulator(handle, { faults });
  onTestFinished(() => served.close());
  return (body: string) => fetch(`${served.url}/update`, { method: 'POST', body });
}

const firewall: ScriptedFault = {
  match: '^POST /update$',
  body: '<script|[Dd]rop table',
  times: 'always',
  action: {
    kind: 'status',
    status: 403,
    body: '<html>Request blocked</html>',
    headers: { 'content-type': 'text/html' },
  },
};

it('an emulator behind a firewall refuses certain bodies each time', async () => {
  const post = await serve([firewall], () => ({ status: 200, body: { done: true } }));
  const answers = [await post('{"a":"x"}'), await post('{"a":"drop table"}'), await post('{"a":"<script>"}')];
  expect(answers.map(({ status }) => status)).toEqual([200, 403, 403]);
  expect(await answers[1]?.text()).toBe('<html>Request blocked</html>');
});

it('an emulator applies a request at the start of a slow answer, or at its end', async () => {
  let worked = 0;
  const faults = (['start', 'end'] as const).map((at) => ({
    match: 'POST',
    action: { kind: 'slow', ms: 60, at } as const,
  }));
  const post = await serve(faults, () => {
    worked = performance.now();
    return { status: 200, body: 'held' };
  });
  await post('');
  const late = performance.now();
  expect(late - worked).toBeGreaterThan(55);
  await post('');
  expect(worked - late).toBeGreaterThan(55);
});
