import { expect, it } from 'vitest';
import { createWakeUp } from '../../src/runtime/wake-up.ts';

const LONG = 60_000;
const never = new AbortController().signal;

it('a ring ends a wait for the same queue, and no other', async () => {
  const wakeUp = createWakeUp();
  const other = new AbortController();
  let heard = false;
  const unheard = wakeUp.wait('b', LONG, other.signal).then(() => {
    heard = true;
  });
  const waiting = [wakeUp.wait('a', LONG, never), wakeUp.wait('a', LONG, never)];
  wakeUp.ring('a');
  await Promise.all(waiting);
  expect(heard).toBe(false);
  other.abort();
  await unheard;
});

it('a ring that came before the wait is not lost, and counts once', async () => {
  const wakeUp = createWakeUp();
  wakeUp.ring('a');
  wakeUp.ring('a');
  await wakeUp.wait('a', LONG, never);
  const since = performance.now();
  await wakeUp.wait('a', 30, never);
  expect(performance.now() - since).toBeGreaterThan(25);
});

it('a wait for an aborted signal is over at once', async () => {
  await createWakeUp().wait('a', LONG, AbortSignal.abort());
});

it('a ring for all ends each wait, and the next wait of a busy worker', async () => {
  const wakeUp = createWakeUp();
  const waits = ['a', 'b'].map((queue) => wakeUp.wait(queue, LONG, never));
  wakeUp.ringAll();
  await Promise.all(waits);
  wakeUp.ringAll();
  await Promise.all(['a', 'b'].map((queue) => wakeUp.wait(queue, LONG, never)));
});
