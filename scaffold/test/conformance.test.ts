/** Runs every rule of the contract as a test of its own. */
import { test } from 'node:test';
import { conformance } from 'cvrsync/testing';
import { subject } from './subject.ts';

for (const { name, about, skip, run } of conformance(subject))
  test(`${name}: ${about}`, { skip }, async (context) => {
    const result = await run();
    if (result === 'absent') context.skip('the connection does not have the ability');
    if (result === 'untried') context.skip('there is no connection to try it on');
  });
