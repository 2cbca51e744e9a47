/** Backfills of pages that are cut: cancelled, by a daemon that ends, by a CRM that does not answer. */
import { describe, expect, it } from 'vitest';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { reached, revisionIn, startHouse } from './house.ts';

/** The list of companies. */
const PAGES = 'GET .*/objects/.*/companies$';
const READS = 'POST .*batch/read';
const COUNT = 250;

const isFirstPage = ({ path }: { readonly path: string }): boolean =>
  /\/objects\/.*\/companies\?/u.test(path) && !path.includes('after=');

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  it('a cancelled scan resumes where it stopped', async () => {
    const { fixture, add, signedIn, audit } = await startHouse({ engine });
    for (let at = 0; at < COUNT; at++) add('hubspot', cvrNumber(at));
    fixture.hubspot.fault({ match: PAGES, after: 1, action: { kind: 'hang' } });
    const ida = await signedIn('operator');
    await ida.get('/backfill/hubspot');
    const path = String((await ida.post('/backfill/hubspot/scan', { revision: 'none' })).headers['location']);
    await reached(ida, path, '100 records');
    await ida.post(`${path}/cancel`, {});
    const stopped = await reached(ida, path, 'Cancelled');
    expect(stopped).toContain('Look at the plan');
    await fixture.settled();
    const page = await ida.get('/backfill/hubspot');
    expect(page.text).toContain('Continue the scan');
    const goOn = await ida.post('/backfill/hubspot/scan', { revision: revisionIn(page.text), goesOn: 'yes' });
    await reached(ida, String(goOn.headers['location']), 'Look at the plan');
    expect((await ida.get('/backfill/hubspot')).text).toContain(
      '<td class="number" data-label="Records"><div>250</div>',
    );
    expect(fixture.hubspot.calls.filter(isFirstPage)).toHaveLength(1);
    expect(await audit()).toEqual([
      'backfill.scan begun',
      'backfill.scan cancelled after 100 records',
      'backfill.scan begun',
    ]);
  });

  it('a cancelled apply keeps its links, and the rest is applied after another preview', async () => {
    const { fixture, add, signedIn, scan, preview, links } = await startHouse({ engine });
    for (let at = 0; at < COUNT; at++) add('hubspot', cvrNumber(at));
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const first = await preview(ida, 'hubspot');
    const second = await preview(ida, 'hubspot');
    fixture.hubspot.fault({ match: READS, after: 1, action: { kind: 'hang' } });
    await ida.post(`${first}/confirm`, {});
    await reached(ida, first, '100 of 250 records');
    await ida.post(`${first}/cancel`, {});
    await reached(ida, first, 'Cancelled: what was done stays done');
    await fixture.settled();
    expect(Object.keys(await links('hubspot'))).toHaveLength(100);
    // What it showed is no longer what would be done.
    await ida.post(`${second}/confirm`, {});
    expect((await ida.get(second)).text).toContain('the plan is another one by now');
    const rest = await preview(ida, 'hubspot');
    expect((await ida.get(rest)).text).toContain('Link 150 records');
    await ida.post(`${rest}/confirm`, {});
    await reached(ida, rest, 'class="state ok">Done');
    expect(Object.keys(await links('hubspot'))).toHaveLength(COUNT);
  });

  it('a scan and an apply resume in the next daemon', async () => {
    const { fixture, add, signedIn, links, preview, restart, audit } = await startHouse({ engine, leaseSeconds: 5 });
    for (let at = 0; at < COUNT; at++) add('hubspot', cvrNumber(at));
    fixture.hubspot.fault({ match: PAGES, after: 1, action: { kind: 'hang' } });
    let ida = await signedIn('operator');
    await ida.get('/backfill/hubspot');
    const scanned = String((await ida.post('/backfill/hubspot/scan', { revision: 'none' })).headers['location']);
    await reached(ida, scanned, '100 records');
    await restart();
    ida = await signedIn('operator');
    await reached(ida, scanned, 'Look at the plan');
    expect(fixture.hubspot.calls.filter(isFirstPage)).toHaveLength(1);

    const path = await preview(ida, 'hubspot');
    fixture.hubspot.fault({ match: READS, after: 1, action: { kind: 'hang' } });
    await ida.post(`${path}/confirm`, {});
    await reached(ida, path, '100 of 250 records');
    await restart();
    ida = await signedIn('operator');
    await reached(ida, path, 'class="state ok">Done');
    expect(Object.keys(await links('hubspot'))).toHaveLength(COUNT);
    expect((await audit()).at(-1)).toBe('backfill.apply done; 250 linked, 0 failed, 0 left');
  });
});

it('a CRM that does not answer is named while a scan waits for it, and the scan can be cancelled', async () => {
  const { fixture, add, signedIn } = await startHouse();
  add('hubspot', '10150817');
  fixture.hubspot.fault({ match: '.', times: 1_000, action: { kind: 'status', status: 503, body: {} } });
  const ida = await signedIn('operator');
  await ida.get('/backfill/hubspot');
  const path = String((await ida.post('/backfill/hubspot/scan', { revision: 'none' })).headers['location']);
  await reached(ida, path, 'does not answer');
  await ida.post(`${path}/cancel`, {});
  await reached(ida, path, 'Cancelled');
  await fixture.settled();
  expect((await ida.get('/backfill/hubspot')).text).toContain('Scan the CRM');
});

it('a CRM that refuses the credentials ends the scan, and the previous plan stays', async () => {
  const { fixture, add, signedIn, scan } = await startHouse();
  const id = add('hubspot', '10150817');
  const ida = await signedIn('operator');
  const revision = await scan(ida, 'hubspot');
  fixture.hubspot.fault({ match: PAGES, times: 1_000, action: { kind: 'status', status: 401, body: {} } });
  const asked = await ida.post('/backfill/hubspot/scan', { revision });
  const failed = await reached(ida, String(asked.headers['location']), 'Look at the plan');
  expect(failed).toContain('class="state bad"');
  expect((await ida.get('/backfill/hubspot')).text).toContain('Continue the scan');
  expect(id).not.toBe('');
});
