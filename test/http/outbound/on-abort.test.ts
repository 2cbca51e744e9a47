import { expect, test } from 'vitest';
import { onAbort } from '../../../src/http/outbound/on-abort.ts';

test('an abort reaches all that share the signal, once, except those that ended before', () => {
  const shared = new AbortController();
  const heard: string[] = [];
  const forget = onAbort(shared.signal, () => heard.push('ended before'));
  onAbort(shared.signal, () => heard.push('first'));
  onAbort(shared.signal, () => heard.push('second'));
  const other = new AbortController();
  onAbort(other.signal, () => heard.push('of another signal'));
  forget();
  shared.abort();
  shared.abort();
  expect(heard).toEqual(['first', 'second']);
});
