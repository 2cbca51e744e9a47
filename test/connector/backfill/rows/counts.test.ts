/** The counts of a plan follow every change of its rows, whoever makes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { erase } from '../../../../src/commands/erase/erase-entity.ts';
import { editRow, rowRevision } from '../../../../src/connector/backfill/plan/edit-row.ts';
import { countToSkip, skipAll } from '../../../../src/connector/backfill/plan/skip-all.ts';
import { uploadPlan } from '../../../../src/connector/backfill/plan/upload-plan.ts';
import { readCounts, recountPlans } from '../../../../src/connector/backfill/rows/counts.ts';
import { planRevision, readRun } from '../../../../src/connector/backfill/rows/progress.ts';
import { rowsById } from '../../../../src/connector/backfill/rows/scan-rows.ts';
import { openStore } from '../../../../src/store/engines/open.ts';
import { cvrNumber } from '../../../support/cvr-numbers.ts';
import { newStoreUrl, SUITE_ENGINES } from '../../../support/stores.ts';
import { startFixture } from '../fixture.ts';
import { apply, newFile, plan } from '../plan-runs.ts';

const actor = { kind: 'operator', name: 'ida' } as const;

it.each(SUITE_ENGINES)(
  'counts are correct after a scan, edits, an upload, an apply and an erasure on %s',
  async (engine) => {
    const url = await newStoreUrl(engine);
    const store = await openStore(url, { migrate: 'new' });
    const elsewhere = await openStore(url);
    onTestFinished(async () => {
      await elsewhere.close();
      await store.close();
    });
    const fixture = await startFixture({ store });
    const [first, second] = [1, 2, 3, 4, 5, 6, 7].map((at) => fixture.add(cvrNumber(at), { name: `Firma ${at}` }));
    const [unknown] = [
      fixture.add('ukendt'),
      fixture.add(cvrNumber(8)),
      fixture.add(`DK${cvrNumber(8)}`),
      fixture.add(null),
    ];
    /** The counts as they are kept, which are those of all rows. */
    const counts = async () => {
      const kept = await readCounts(store.db, 'hubspot');
      await recountPlans(store, Date.now);
      expect(await readCounts(store.db, 'hubspot')).toEqual(kept);
      return kept;
    };
    const file = newFile();
    await fixture.run(plan(file));
    expect(await counts()).toMatchObject({
      verdicts: { matched: 7, invalid: 1, ambiguous: 2, 'no-number': 1 },
      linkable: { matched: 7 },
      ...{ toLink: 7, person: 3 },
    });

    const edit = async (recordId = '', entity: string | null = null) => {
      const [row] = await rowsById(store.db, 'hubspot', [recordId]);
      if (row === undefined) throw new Error('there is no such row');
      const asked = { provider: 'hubspot', recordId, revision: rowRevision(row), entity, actor };
      // By another process.
      expect(await elsewhere.write((tx) => editRow(tx, asked, Date.now()))).toBe('done');
    };
    await edit(first, null);
    await edit(unknown, `CVR-1-${cvrNumber(9)}`);
    expect(await counts()).toMatchObject({ linkable: { matched: 6, invalid: 1 }, toLink: 7, person: 2 });

    const filters = [{}, { verdict: 'matched' }, { part: 'link' }, { part: 'person' }, { text: 'firma' }] as const;
    const skippable = await Promise.all(filters.map((filter) => countToSkip(store.db, 'hubspot', filter)));
    expect(skippable).toEqual([7, 6, 7, 0, 6]);
    const revision = async () => planRevision(await readRun(store.db, 'hubspot'));
    const skipped = { provider: 'hubspot', filter: { verdict: 'invalid' }, revision: await revision(), actor } as const;
    expect(await skipAll({ store, now: Date.now }, skipped)).toBe('done');
    expect(await counts()).toMatchObject({ linkable: { matched: 6 }, toLink: 6, person: 3 });

    writeFileSync(file, readFileSync(file, 'utf8').replace(new RegExp(`^(${second};.*;)link;`, 'mu'), '$1skip;'));
    const upload = { file, revision: await revision(), actor, via: 'page' } as const;
    expect((await uploadPlan(fixture.deps, upload, new AbortController().signal)).kind).toBe('taken');
    expect(await counts()).toMatchObject({ toLink: 6, linked: 0 });

    // One was merged into a record that the scan did not see.
    const third = fixture.emulator.merge(fixture.add(null), first ?? '');
    await fixture.run({ ...apply(file), limit: 3 });
    expect(await counts()).toMatchObject({ verdicts: { moved: 1 }, toLink: 3, linked: 3 });
    await fixture.run(apply(file));
    expect(await counts()).toMatchObject({ toLink: 0, linked: 6 });
    expect(Object.keys(await fixture.links())).toContain(third);

    await erase(store, `CVR-1-${cvrNumber(3)}`, { now: Date.now, actor, signal: new AbortController().signal });
    expect(await counts()).toMatchObject({ linked: 5 });
  },
);
