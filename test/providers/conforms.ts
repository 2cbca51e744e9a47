/** Declares the conformance suite as tests, one for each rule. */
import { describe, it } from 'vitest';
import { conformance } from '../../providers/kit/conformance/conformance.ts';
import type { Subject } from '../../providers/kit/conformance/lab/subject.ts';

/** Every rule the CRM can be tried by; what it lacks is skipped and says so. */
export function describeConformance(name: string, subject: Subject): void {
  describe(`${name} keeps the contract`, () => {
    for (const { name: rule, about, skip, run } of conformance(subject))
      it.skipIf(skip !== false)(`${rule}: ${skip === false ? about : skip}`, async (context) => {
        const result = await run();
        if (result === 'absent') context.skip('the connection does not have the ability');
        if (result === 'untried') context.skip('there is no connection to try it on');
      });
  });
}
