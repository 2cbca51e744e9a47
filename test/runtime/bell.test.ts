import { expect, it } from 'vitest';
import { createBell } from '../../src/runtime/bell.ts';

const LONG = 60_000;
const never = new AbortController().signal;

it('a ring ends a wait for the same queue, and no other', async () => {
  const bell = createBell();
  const other = new AbortController();
  let heard = false;
  const unheard = bell.wait('b', LONG, other.signal).then(() => {
    heard = true;
  });
  const waiting = [bell.wait('a', LONG, never), bell.wait('a', LONG, never)];
  bell.ring('a');
  await Promise.all(waiting);
  expect(heard).toBe(false);
  other.abort();
  await unheard;
});

it('a ring that came before the wait is not lost, and counts once', async () => {
  const bell = createBell();
  bell.ring('a');
  bell.ring('a');
  await bell.wait('a', LONG, never);
  const since = performance.now();
  await bell.wait('a', 30, never);
  expect(performance.now() - since).toBeGreaterThan(25);
});

it('a wait for an aborted signal is over at once', async () => {
  await createBell().wait('a', LONG, AbortSignal.abort());
});
