import { expect, it } from 'vitest';
import { untilNone } from './until-none.ts';

it('waits as long as something moves, though it takes longer than a look may find the same', async () => {
  let left = 8;
  let looks = 0;
  // Each number is seen twice: all of it takes several times as long as nothing may move.
  const look = async () => Array.from({ length: looks++ % 2 === 0 ? left-- : left }, (_, at) => at);
  await untilNone(look, { stillMs: 200, interval: 60 });
  expect(left).toBeLessThan(1);
});

it('names what is left where nothing moves, and the error of a look', async () => {
  const stuck = () => untilNone(async () => ['sync:hubspot 1'], { stillMs: 20, interval: 5 });
  await expect(stuck()).rejects.toThrow(/sync:hubspot 1|deeply equal/u);
  const away = () => untilNone(async () => Promise.reject(new Error('away')), { stillMs: 20, interval: 5 });
  await expect(away()).rejects.toThrow('deeply equal');
});
