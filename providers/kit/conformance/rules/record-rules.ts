/** Rules about records that were deleted, merged or changed. */
import { brief, insist, insistList, insistSame } from '../lab/insist.ts';
import { cursorOf, live, of } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { patiently } from '../lab/until.ts';

export const RECORD_RULES: readonly ConformanceRule[] = [
  {
    name: 'gone',
    about: 'reads and updates report a deleted record as gone, and still answer for the other records of the call',
    why: 'otherwise its company stays monitored and paid for, and its changes are retried for ever',
    run: async ({ ids, fake, read, write, text, subject }) => {
      const [deleted, ...others] = ids;
      fake.remove(deleted ?? '');
      if (subject.lacks?.read === undefined) {
        const reads = await read(ids);
        insistSame(of(reads, deleted), { kind: 'gone', id: deleted }, 'a deleted record, read');
        for (const id of others) insistSame(of(reads, id)?.kind, 'found', 'a live record beside it');
      }
      const outcomes = await write(ids, { [text]: 'Ny' });
      insistSame(of(outcomes, deleted), { kind: 'gone', id: deleted }, 'a deleted record, written');
      for (const id of others) insistSame(of(outcomes, id)?.kind, 'written', 'a live record beside it');
    },
  },
  {
    name: 'never-creates',
    about: 'an update of an id that no record has is gone, and makes no record',
    why: 'every change would bring a deleted company back into the CRM',
    run: async ({ ids, fake, limits, read, write, scan, text, subject }) => {
      const { absentId, lacks } = subject;
      const [first = '', ...others] = ids;
      const asked = others.length > 1 ? [first, absentId, ...others].slice(0, limits.batch.update) : [absentId];
      const gone = { kind: 'gone', id: absentId };
      if (lacks?.read === undefined)
        insistSame(of(await read(asked), absentId), gone, 'a record that never existed, read');
      const outcomes = await write(asked, { [text]: 'Ny' });
      insistSame(of(outcomes, absentId), gone, 'an update of a record that never existed');
      for (const id of asked.filter((each) => each !== absentId))
        insistSame(of(outcomes, id)?.kind, 'written', 'a live record beside it');
      insist(fake.get(absentId) === undefined, 'the update made a record');
      if (lacks?.scan === undefined) insistSame((await scan()).length, ids.length, 'records afterwards');
    },
  },
  {
    name: 'canonical-ids',
    about: 'the ids in answers are canonical: canonicalId returns each of them unchanged, and accepts any text',
    why: 'a record with two ids would have two links, and two companies would write it in turn',
    has: ({ subject }) => subject.provider.canonicalId !== undefined,
    run: async ({ ids, scan, settings, subject: { provider, absentId, lacks } }) => {
      const listed = lacks?.scan === undefined ? (await scan()).map(({ id }) => id) : [];
      for (const id of new Set([...ids, absentId, ...listed]))
        insistSame(provider.canonicalId?.(id, settings), { kind: 'id', id }, `the canonical form of ${id}`);
      for (const text of ['-', '0', `${absentId}/x`, 'æøå', 'x'.repeat(300)]) {
        const read = provider.canonicalId?.(text, settings);
        const isSound = read?.kind === 'none' ? read.reason !== '' : read?.kind === 'id' && read.id !== '';
        insist(isSound, `it read ${brief(text)} as ${brief(read)}`);
      }
    },
  },
  {
    name: 'record-address',
    about: 'recordAddress gives each record its own https address, from which idInAddress reads the id back',
    why: 'a person would assess one record by the page of another',
    has: ({ subject }) => subject.provider.recordAddress !== undefined,
    run: async ({ ids, connection, settings, subject: { provider } }) => {
      const { id: account } = await patiently(() => connection.check(live()));
      const addresses = new Set<string>();
      for (const id of ids) {
        const address = provider.recordAddress?.(id, account, settings);
        // Some settings do not reveal the address.
        if (address === undefined) continue;
        const url = URL.canParse(address) ? new URL(address) : undefined;
        if (url?.protocol !== 'https:') return insist(false, `the address of ${id} is ${brief(address)}`);
        addresses.add(address);
        if (provider.idInAddress !== undefined)
          insistSame(provider.idInAddress(url, settings), id, `the id in ${address}`);
      }
      insist(addresses.size === 0 || addresses.size === ids.length, 'two records have one address');
    },
  },
  {
    name: 'moved',
    about: 'a merged record is moved, with the id of the survivor, and the survivor is unchanged',
    why: 'the survivor may belong to another company: only the runtime knows, and moves the link',
    needs: ['merge'],
    run: async ({ ids, fake, add, read, write, text, subject }) => {
      // A provider with a batch of one record has merged records, too.
      const [primary = '', other = add('Ege'), beside = other] = ids;
      const survivor = fake.merge?.(primary, other);
      insist(survivor !== undefined, 'the fake must have merge, or the subject must state that the CRM lacks it');
      // A fake may return its own objects: copy them.
      const before = { ...fake.get(survivor) };
      const moved = { kind: 'moved', id: other, to: survivor };
      const asked = [...new Set([other, beside])];
      if (subject.lacks?.read === undefined) insistSame(of(await read(asked), other), moved, 'a merged record, read');
      const outcomes = await write(asked, { [text]: 'Ny' });
      insistSame(of(outcomes, other), moved, 'a merged record, written');
      if (beside !== other) insistSame(of(outcomes, beside)?.kind, 'written', 'a live record beside it');
      insistSame(fake.get(survivor), before, 'the values of the survivor');
    },
  },
  {
    name: 'scans-all',
    about: 'a scan gives every record once, across all pages',
    why: 'records that a backfill misses get no company',
    needs: ['scan'],
    run: async ({ ids, add, scan }) => {
      const all = [...ids];
      for (let i = 0; i < 230; i += 1) all.push(add(`Nr ${i}`));
      const seen = (await scan()).map(({ id }) => id);
      const missing = all.filter((id) => !seen.includes(id));
      insist(missing.length === 0, `of ${all.length} records the scan left out ${missing.length}`);
      insist(new Set(seen).size === seen.length, 'the scan gave a record twice');
    },
  },
  {
    name: 'scans-live-values',
    about: 'a scan gives each live record with its own values, blanks as null, and no deleted record',
    why: 'a backfill links a record by its number in the scan, and a deleted record makes a number look ambiguous',
    needs: ['scan', 'read'],
    run: async ({ ids, fake, add, scan, subject }) => {
      const { text, long, number } = subject.properties;
      const all = [...ids];
      for (let i = 0; i < 130; i += 1) all.push(add(`Nr ${i}`));
      const [first = ''] = all;
      const [deleted = ''] = all.splice(all.length - 60, 1);
      fake.edit(first, { [number]: 42 });
      fake.remove(deleted);
      const scanned = await scan([text, long, number]);
      insist(of(scanned, deleted) === undefined, 'the scan gave a record that was deleted');
      for (const id of all) insistSame(of(scanned, id)?.properties[text], fake.get(id)?.[text], `${text} in a scan`);
      const held = { [text]: fake.get(first)?.[text], [long]: fake.get(first)?.[long] ?? null, [number]: 42 };
      insistSame(of(scanned, first)?.properties, held, 'a record in a scan');
    },
  },
  {
    name: 'scans-while-records-change',
    about:
      'a scan gives every record that existed throughout, even if others are made, edited or deleted between its pages',
    why: 'a backfill takes hours while people work: every deletion shifts pages that count positions by one',
    needs: ['scan'],
    run: async ({ ids, fake, add, connection, text }) => {
      const early = [...ids];
      for (let i = 0; i < 230; i += 1) early.push(add(`Nr ${i}`));
      const deleted = new Set<string>();
      const seen = new Set<string>();
      let cursor: string | undefined;
      for (let page = 0; page < 1_000; page += 1) {
        const given = await connection.scan([text], cursor, new AbortController().signal);
        const records = insistList(given.records, 'a scan');
        const next = cursorOf(given);
        for (const { id } of records) seen.add(id);
        if (next === undefined) break;
        insist(next !== cursor, `the scan gave the cursor ${brief(next)} twice`);
        cursor = next;
        for (const { id } of records.slice(0, 3)) {
          if (fake.get(id) === undefined) continue;
          fake.remove(id);
          deleted.add(id);
        }
        const edited = early.find((id) => !deleted.has(id) && !seen.has(id));
        if (edited !== undefined) fake.edit(edited, { [text]: 'Edited' });
        if (page < 5) add(`Late ${page}`);
      }
      const missing = early.filter((id) => !deleted.has(id) && !seen.has(id));
      insist(missing.length === 0, `the scan left out ${missing.length} records that existed throughout`);
    },
  },
];
