/** An outage of a CRM, the monitoring service or the register is reported: in the log, in review, by /ready. */
import { describe, expect, it } from 'vitest';
import { readReview } from '../../../src/connector/review/review-list.ts';
import type { OutboundHttp } from '../../../src/http/outbound/client.ts';
import { HttpFault } from '../../../src/http/outbound/fault.ts';
import { readOutages, shownOutage, watchOutages } from '../../../src/http/outbound/outage.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const MINUTE = 60_000;
const request = {
  method: 'GET',
  url: 'https://crm.example/x?accesskey=secret',
  signal: AbortSignal.timeout(60_000),
} as const;

async function setUp(engine: (typeof ENGINES)[number]) {
  const store = await newStore(engine);
  const script = { time: Date.UTC(2026, 2, 3), answer: (): number => 200 };
  const lines: string[] = [];
  const line = (level: string) => (details: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(details)}`);
  };
  const inner: OutboundHttp = async () => ({ status: script.answer(), headers: {}, body: '' });
  const make = () => watchOutages({ store, now: () => script.time, log: { info: line('info'), warn: line('warn') } });
  const http = make().watch('hubspot', inner);
  const call = (by: OutboundHttp = http) => by(request).catch(() => undefined);
  return { store, script, lines, call, make, inner };
}
const gone = (): never => {
  throw new HttpFault('refused', 'https://crm.example/x?accesskey=secret refused the connection');
};

describe.each(ENGINES)('an outage (%s)', (engine) => {
  it('is one warning a minute with what and since when, and one line when it is over', async () => {
    const { script, lines, call } = await setUp(engine);
    await call();
    expect(lines).toEqual([]);
    script.answer = () => 503;
    for (let second = 0; second < 150; second += 10) {
      await call();
      script.time += 10_000;
    }
    expect(lines).toHaveLength(3);
    for (const line of lines)
      expect(line).toMatch(/^warn hubspot answers with errors: .*2026-03-03T00:00:00.*answered 503/);
    script.answer = () => 200;
    await call();
    await call();
    expect(lines.slice(3)).toEqual([expect.stringMatching(/^info hubspot answers again.*"seconds":150/)]);
  });

  it('is in review after ten minutes, until it is over', async () => {
    const { store, script, call } = await setUp(engine);
    script.answer = gone;
    for (let minute = 0; minute <= 11; minute += 1) {
      await call();
      script.time += MINUTE;
    }
    expect(await readReview(store.db, script.time)).toMatchObject([
      { kind: 'account', about: 'hubspot', reason: expect.stringContaining('since 2026-03-03T00:00:00Z') },
    ]);
    script.answer = () => 200;
    await call();
    expect(await readReview(store.db, script.time)).toEqual([]);
  });

  it('reveals no address, which may hold a key', async () => {
    const { store, script, lines, call } = await setUp(engine);
    script.answer = gone;
    await call();
    expect([...lines, ...(await readOutages(store.db, script.time)).map(shownOutage)].join()).not.toContain('secret');
  });

  it('begins with refused credentials too, but not with the refusal of one record', async () => {
    const { store, lines, script, call } = await setUp(engine);
    script.answer = () => 400;
    await call();
    expect(lines).toEqual([]);
    script.answer = () => 401;
    await call();
    expect(lines).toEqual([expect.stringMatching(/^warn hubspot refuses the credentials: renew them .*answered 401/)]);
    const [outage] = await readOutages(store.db, script.time);
    expect(outage && shownOutage(outage)).toMatch(/^hubspot refuses the credentials since .*: answered 401$/);
    script.answer = () => 400;
    await call();
    expect(lines).toHaveLength(1);
  });

  it('that an earlier process saw is over with the first answer', async () => {
    const { store, script, call, make, inner } = await setUp(engine);
    script.answer = () => 500;
    await call();
    expect(await readOutages(store.db, script.time)).toHaveLength(1);
    // A row that nobody renews was left by a process that ended.
    expect(await readOutages(store.db, script.time + 16 * MINUTE)).toEqual([]);
    script.answer = () => 200;
    await call(make().watch('hubspot', inner));
    expect(await readOutages(store.db, script.time)).toEqual([]);
  });

  it('of the register is reported by its host', async () => {
    const { script, lines, call, make, inner } = await setUp(engine);
    script.answer = () => 502;
    await call(make().watchHosts(inner));
    expect(lines).toEqual([expect.stringContaining('warn crm.example answers with errors')]);
  });
});
