import { expect, test } from 'vitest';
import { openTurns } from '../src/reload.ts';

test('what is in force is taken up again as an earlier turn left it, also if that turn failed', async () => {
  let inForce = 'the first file';
  const taken: string[] = [];
  const turns = openTurns(async (next: string) => {
    taken.push(next);
    await Promise.resolve();
    if (next === 'a broken file') throw new Error('broken');
    inForce = next;
  });
  const second = turns.take(() => 'the second file');
  const broken = turns.take(() => 'a broken file');
  const again = turns.take(() => inForce);
  await expect(broken).rejects.toThrow('broken');
  await Promise.all([second, again, turns.ended()]);
  expect(taken).toEqual(['the second file', 'a broken file', 'the second file']);
});
