/** Reading and scanning: ids in two spellings, deletions, merges, hidden fields, short pages. */
import { describe, expect, it } from 'vitest';
import { live, openBench, paths } from '../setup.ts';

describe('reading accounts', () => {
  it('accepts ids of 15 characters and answers under the requested spelling', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ Name: 'Birk ApS' });
    const short = id.slice(0, 15);
    expect(await connection.read([short], ['Name'], live())).toEqual([
      { kind: 'found', id: short, properties: { Name: 'Birk ApS' } },
    ]);
    expect(await connection.update([{ id: short, properties: { Name: 'Ny ApS' } }], live())).toMatchObject([
      { kind: 'written', id: short },
    ]);
    expect(emulator.get(id)).toMatchObject({ Name: 'Ny ApS' });
  });

  it('reports an impossible account id as gone, without a call', async () => {
    const { connection, requests } = await openBench();
    await connection.properties(live());
    const before = requests.length;
    const ids = ['', '12345', '003Qy01000000A1AAA', "001' OR Id != '"];
    expect((await connection.read(ids, ['Name'], live())).map((read) => read.kind)).toEqual(ids.map(() => 'gone'));
    expect(
      (
        await connection.update(
          ids.map((id) => ({ id, properties: { Name: 'x' } })),
          live(),
        )
      ).map((o) => o.kind),
    ).toEqual(ids.map(() => 'gone'));
    expect(requests.length).toBe(before);
  });

  it('follows merges of merges to the last survivor', async () => {
    const { emulator, connection } = await openBench();
    const [a = '', b = '', c = ''] = ['A', 'B', 'C'].map((Name) => emulator.add({ Name }));
    emulator.merge(b, a);
    emulator.merge(c, b);
    expect(await connection.read([a, b], ['Name'], live())).toEqual([
      { kind: 'moved', id: a, to: c },
      { kind: 'moved', id: b, to: c },
    ]);
    emulator.remove(c);
    expect((await connection.read([a, b, c], ['Name'], live())).map((read) => read.kind)).toEqual([
      'gone',
      'gone',
      'gone',
    ]);
  });

  it('finds an undeleted record again, and reports a purged one as gone', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({ Name: 'Birk ApS' });
    emulator.remove(id);
    expect((await connection.read([id], ['Name'], live()))[0]?.kind).toBe('gone');
    emulator.restore(id);
    expect((await connection.read([id], ['Name'], live()))[0]?.kind).toBe('found');
    emulator.remove(id);
    emulator.purge(id);
    expect((await connection.read([id], ['Name'], live()))[0]?.kind).toBe('gone');
  });

  it('looks up 200 missing records with short addresses', async () => {
    const { emulator, connection, requests } = await openBench();
    const ids = Array.from({ length: 200 }, (_, at) => emulator.add({ Name: `Nr ${at}` }));
    for (const id of ids) emulator.remove(id);
    expect(new Set((await connection.read(ids, ['Name'], live())).map((read) => read.kind))).toEqual(new Set(['gone']));
    expect(requests.every((request) => request.url.length <= 2_000)).toBe(true);
    expect(paths(requests).filter((path) => path.endsWith('/queryAll')).length).toBe(4);
  });

  it('keeps what it found when the search for missing records fails', async () => {
    const { emulator, connection } = await openBench();
    const [a = '', b = ''] = ['A', 'B'].map((Name) => emulator.add({ Name }));
    emulator.remove(b);
    emulator.fault({ match: 'queryAll', action: { kind: 'status', status: 503 } });
    expect(await connection.read([a, b], ['Name'], live())).toMatchObject([
      { kind: 'found' },
      { kind: 'retry', id: b },
    ]);
  });

  it('omits a field that is hidden from the user, even if it was hidden a moment ago', async () => {
    const { emulator, connection } = await openBench({ hiddenFields: ['Fax'] });
    const id = emulator.add({ Name: 'Birk ApS', Phone: '33 11 22 44' });
    const names = ['Name', 'Phone', 'Fax', 'No_Such__c'];
    expect(await connection.read([id], names, live())).toMatchObject([
      { properties: { Name: 'Birk ApS', Phone: '33 11 22 44' } },
    ]);
    expect((await connection.properties(live())).map((property) => property.name)).not.toContain('Fax');
    emulator.hideField('Phone');
    const [read] = await connection.read([id], names, live());
    expect(read).toEqual({ kind: 'found', id, properties: { Name: 'Birk ApS' } });
    expect((await connection.scan(names, undefined, live())).records).toEqual([
      { id, properties: { Name: 'Birk ApS' } },
    ]);
  });

  it('returns times in UTC, numbers as numbers and unset checkboxes as false', async () => {
    const { emulator, connection } = await openBench();
    const id = emulator.add({
      Name: 'Birk ApS',
      CVR_Changed_At__c: '2026-08-01T12:00:00+02:00',
      CVR_Capital__c: 40_000.5,
    });
    const names = ['CVR_Changed_At__c', 'CVR_Capital__c', 'CVR_Hold__c', 'CVR_Start_Date__c'];
    const [read] = await connection.read([id], names, live());
    expect(read).toMatchObject({
      properties: {
        CVR_Changed_At__c: '2026-08-01T10:00:00.000Z',
        CVR_Capital__c: 40_000.5,
        CVR_Hold__c: false,
        CVR_Start_Date__c: null,
      },
    });
  });
});

describe('scanning accounts', () => {
  it.each([2_000, 700])('returns all 4,100 once when Salesforce gives %i rows at most', async (pageSize) => {
    const { emulator, connection } = await openBench({ pageSize });
    const ids = Array.from({ length: 4_100 }, (_, at) => emulator.add({ Name: `Nr ${at}` }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await connection.scan(['Name'], cursor, live());
      seen.push(...page.records.map((record) => record.id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(ids);
  });

  it('resumes from a stored cursor after a restart and after a deletion', async () => {
    const bench = await openBench({ pageSize: 200 });
    const ids = Array.from({ length: 300 }, (_, at) => bench.emulator.add({ Name: `Nr ${at}` }));
    const { cursor } = await bench.connection.scan([], undefined, live());
    bench.emulator.remove(cursor ?? '');
    const again = await bench.connect();
    const page = await again.scan(['Name'], cursor, live());
    expect(page.records.map((record) => record.id)).toEqual(ids.slice(200));
    expect(page.cursor).toBeUndefined();
  });

  it('refuses a cursor that is not its own', async () => {
    const { connection } = await openBench();
    await expect(connection.scan(['Name'], "x' OR Name != '", live())).rejects.toMatchObject({ fault: 'refused' });
  });
});
