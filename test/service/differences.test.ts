/** Two sources with different values: the count in `check`, in the metrics, and in an alert over a limit. */
import { describe, expect, it } from 'vitest';
import { conditionsOf } from '../../src/alerts/conditions.ts';
import { observe } from '../../src/alerts/observe.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { checkRegisters } from '../../src/service/check-register.ts';
import { measureRegister } from '../../src/service/register/watch/progress.ts';
import { newFolder, newStore, SUITE_ENGINES } from '../support/stores.ts';
import { tellApart } from './register/told-apart.ts';

const NOW = Date.parse('2026-11-01T12:00:00Z');

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  it.each([
    // From ten companies and a twentieth of all on it is too much.
    { companies: 200, differing: 10, isTooMuch: true },
    { companies: 220, differing: 10, isTooMuch: false },
    { companies: 20, differing: 9, isTooMuch: false },
    { companies: 3, differing: 0, isTooMuch: false },
  ])('$differing of $companies companies that differ', async ({ companies, differing, isTooMuch }) => {
    const store = await newStore(engine);
    await tellApart(store, { now: NOW, companies, differing });
    const http = () => Promise.reject(new Error('nobody asks'));
    const register = [{ source: 'file', path: newFolder(), pollSeconds: 5 }] as const;
    const deps = { store, http, now: () => NOW };
    const findings = await checkRegisters(deps, { register }, new AbortController().signal);
    const which = differing === 0 ? '' : `: ${differing} in phoneNumber; for example CVR-1-95000000`;
    expect(findings.filter(({ found }) => found.includes('differs from'))).toMatchObject([
      {
        level: isTooMuch ? 'warn' : 'info',
        found: `datafordeler differs from the leading source in ${differing} of ${companies} companies and production units${which}`,
      },
    ]);
    const metrics = createMetrics();
    await measureRegister(store.db, [], metrics, NOW);
    const line = `cvrsync_register_differences{source="datafordeler",event="phoneNumber"} ${differing}`;
    expect((await metrics.registry.metrics()).includes(line)).toBe(differing > 0);
    const conditions = conditionsOf(await observe(store, NOW, 10), { reviewOver: 10, registerBehindMinutes: 60 }, NOW);
    const what = `The source datafordeler gives different values from the leading one for ${differing} of ${companies} companies and production units`;
    expect(conditions.filter(({ key }) => key === 'differing:datafordeler').map((each) => each.what)).toEqual(
      isTooMuch ? [what] : [],
    );
  });
});
