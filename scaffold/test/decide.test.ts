/** The rules of the CRM, without a CRM. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideUpdate } from '../src/decide.ts';

test('a company that the answer leaves out was not written', () => {
  const outcome = decideUpdate('1', { companies: [{ id: '2', ok: true }] });
  assert.deepEqual(outcome, { kind: 'retry', id: '1', reason: 'the answer of My CRM leaves this company out' });
});
