import { describe, expect, it } from 'vitest';
import { type Claim, settled } from '../../../src/runtime/lanes/settlement.ts';

const claim: Claim = { queue: 'q', key: 'a', fence: 1, marks: 1, attempts: 3, since: 10, unended: 0 };

describe('a settlement', () => {
  it('keeps the back-off of a failing lane over marks that came meanwhile', () => {
    expect(settled(claim, { kind: 'again', at: 900, error: 'busy' }, 50)).toEqual({
      key: 'a',
      due: 900,
      attempts: 4,
      since: 10,
      error: 'busy',
      parked: null,
    });
  });

  it('brings a waiting lane that never failed forward to a mark that came meanwhile', () => {
    const waiting = { ...claim, attempts: 0 };
    expect(settled(waiting, { kind: 'again', at: 900, free: true }, 50)?.due).toBe(50);
    expect(settled(waiting, { kind: 'again', at: 40, free: true }, 50)?.due).toBe(40);
    expect(settled(claim, { kind: 'again', at: 900, fresh: true }, 50)).toMatchObject({
      due: 50,
      attempts: 0,
      since: 50,
    });
  });

  it('ends a lane only if no mark came meanwhile', () => {
    expect(settled(claim, { kind: 'done' }, undefined)).toBeUndefined();
    expect(settled(claim, { kind: 'done' }, 50)).toMatchObject({ due: 50, attempts: 0, since: 50, error: null });
  });
});
