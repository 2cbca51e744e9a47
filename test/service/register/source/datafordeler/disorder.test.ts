/** The feed of Datafordeler in disorder: events and rows that are late, lost, or come in parts. */
import { describe, expect, it } from 'vitest';
import { dafFixture } from '../../daf-fixture.ts';
import { contact, document, entry, industry, type Json } from '../../documents.ts';
import { numbersIn, readAll } from '../../source-contract.ts';

const MINUTE = 60_000;

const company = (number: number, fields: Json = {}): Json =>
  document({
    cvrNummer: 95_000_000 + number,
    enhedsNummer: 4_999_000_000 + number,
    hovedbranche: [industry('310900')],
    beliggenhedsadresse: [entry({ vejnavn: 'Prøvegade', husnummerFra: 4 })],
    virksomhedsform: [entry({ virksomhedsformkode: 80, langBeskrivelse: 'Anpartsselskab' })],
    ...fields,
  });

type Content = Readonly<Record<string, unknown>>;
const contentsOf = (documents: Iterable<unknown>): readonly Content[] =>
  [...documents].map((each) => Object.values(each as Readonly<Record<string, Content>>)[0] ?? {});

describe('a feed in disorder', () => {
  it('reads nothing above the water mark, and waits if the mark went back', async () => {
    const { emulator, page } = await dafFixture();
    emulator.put(company(1));
    const end = emulator.tables.events.length;
    emulator.put(company(2));
    emulator.mark = end;
    const first = await page();
    expect(numbersIn(first.documents)).toEqual([1]);
    emulator.mark = end - 3;
    const back = await page(first.cursor);
    expect(back).toMatchObject({ documents: [], trouble: expect.stringContaining(`now end at ${end - 3}`) });
    emulator.mark = undefined;
    expect(numbersIn((await page(back.cursor)).documents)).toEqual([2]);
  });

  it('waits for an event that is missing, then continues without it', async () => {
    const { emulator, page, clock } = await dafFixture();
    for (const number of [1, 2]) emulator.put(company(number), clock.now());
    const hole = emulator.tables.events.length + 1;
    emulator.put(company(3), clock.now());
    emulator.hidden.add(hole);
    const first = await page();
    expect(numbersIn(first.documents)).toEqual([1]);
    const waiting = await page(first.cursor);
    expect(waiting).toMatchObject({ documents: [], more: false, trouble: expect.stringContaining(`event ${hole}`) });
    clock.forward(11 * MINUTE);
    expect(numbersIn((await page(waiting.cursor)).documents)).toEqual([2, 3]);
  });

  it('puts a late event in its place', async () => {
    const { emulator, page, clock } = await dafFixture();
    const hole = 1;
    emulator.put(company(1), clock.now());
    emulator.hidden.add(hole);
    const first = await page();
    expect(first).toMatchObject({ documents: [], more: false });
    emulator.hidden.clear();
    expect(numbersIn((await page(first.cursor)).documents)).toEqual([1]);
  });

  it('continues at once if events followed long ago', async () => {
    const { emulator, source, clock } = await dafFixture();
    for (const number of [1, 2]) emulator.put(company(number), clock.now() - 60 * MINUTE);
    emulator.hidden.add(4);
    expect((await readAll(source)).numbers).toEqual([1, 2]);
  });

  it('decides on each gap alone, and skips none that only a new event follows', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1), clock.now() - 60 * MINUTE);
    emulator.hidden.add(2);
    const hole = emulator.tables.events.length + 2;
    for (const number of [2, 3]) emulator.put(company(number), clock.now());
    emulator.hidden.add(hole);
    const first = await page();
    expect(numbersIn(first.documents)).toEqual([1]);
    const waiting = await page(first.cursor);
    expect(waiting).toMatchObject({ documents: [], trouble: expect.stringContaining(`event ${hole}`) });
    emulator.hidden.delete(hole);
    expect(numbersIn((await page(waiting.cursor)).documents)).toEqual([2, 3]);
  });

  it('waits for events below the water mark as long as no later one is there', async () => {
    const { emulator, page, source, clock } = await dafFixture({ pageSize: 8 });
    for (const number of [1, 2, 3]) emulator.put(company(number), clock.now());
    for (const { eventid } of emulator.tables.events) emulator.hidden.add(eventid);
    let cursor: string | undefined;
    for (let minutes = 0; minutes < 60; minutes += 11) {
      const waiting = await page(cursor);
      expect(waiting).toMatchObject({ documents: [], more: false, trouble: expect.stringContaining('event 1 of') });
      ({ cursor } = waiting);
      clock.forward(11 * MINUTE);
    }
    emulator.hidden.clear();
    expect(new Set((await readAll(source, cursor)).numbers)).toEqual(new Set([1, 2, 3]));
  });

  it('skips a window without events once later ones are old', async () => {
    const { emulator, source, clock } = await dafFixture({ pageSize: 8 });
    for (const number of [1, 2]) emulator.put(company(number), clock.now() - 60 * MINUTE);
    for (let number = 1; number <= 8; number++) emulator.hidden.add(number);
    expect((await readAll(source)).numbers).toContain(2);
  });

  it('reports no end of a fax number whose event is late, or lost', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1, { telefaxNummer: [contact('70100009')] }), clock.now());
    emulator.put(company(2), clock.now());
    const fax = emulator.tables.events.find(({ entityname }) => entityname === 'Telefaxnummer')?.eventid ?? 0;
    emulator.hidden.add(fax);
    const waiting = await page();
    expect(waiting).toMatchObject({ documents: [], trouble: expect.stringContaining(`event ${fax}`) });
    clock.forward(11 * MINUTE);
    const [unknown] = contentsOf((await page(waiting.cursor)).documents);
    expect(unknown).toMatchObject({ cvrNummer: 95_000_001 });
    expect(unknown?.['telefaxNummer']).toBeUndefined();
    emulator.hidden.clear();
    const [read] = contentsOf((await page(waiting.cursor)).documents);
    expect(read?.['telefaxNummer']).toMatchObject([{ kontaktoplysning: '70100009' }]);
  });

  it.each([2, 3, 4, 5])('reports no end of the fax number of a unit over windows of %i events', async (pageSize) => {
    const { emulator, page } = await dafFixture({ pageSize });
    emulator.put(company(1, { telefaxNummer: [contact('70100009')] }));
    const documents: unknown[] = [];
    let next = await page();
    for (; next.more; next = await page(next.cursor)) documents.push(...next.documents);
    documents.push(...next.documents);
    const faxes = contentsOf(documents).map(({ telefaxNummer }) => telefaxNummer);
    expect(faxes.length).toBeGreaterThan(1);
    expect(faxes).not.toContainEqual([]);
  });

  it('waits for entities that are behind the events, and reports no removal meanwhile', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1, { telefonNummer: [contact('70100001')] }), clock.now());
    emulator.silent.add('Telefonnummer');
    await expect(page()).rejects.toMatchObject({
      name: 'SourceError',
      message: expect.stringContaining('Telefonnummer'),
    });
    clock.forward(11 * MINUTE);
    const late = await page();
    const [read] = contentsOf(late.documents);
    expect(read?.['telefonNummer']).toBeUndefined();
    expect(read?.['elektroniskPost']).toEqual([]);
    expect(late.trouble).toContain('unknown are phoneNumber');
    expect(late.again).toEqual(['CVR-1-95000001']);
    emulator.silent.clear();
    const [whole] = contentsOf((await page()).documents);
    expect(whole?.['telefonNummer']).toMatchObject([{ kontaktoplysning: '70100001' }]);
  });

  it('waits for a unit that is announced and not served', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1), clock.now());
    emulator.silent.add('CVREnhed');
    await expect(page()).rejects.toMatchObject({ name: 'SourceError' });
    emulator.silent.clear();
    expect(numbersIn((await page()).documents)).toEqual([1]);
  });

  it('retries for a day a unit that is announced and not served', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1, { telefonNummer: [contact('70100001')] }), clock.now());
    for (const entity of ['CVREnhed', 'Telefonnummer']) emulator.silent.add(entity);
    clock.forward(11 * MINUTE);
    const unserved = await page();
    expect(unserved).toMatchObject({ documents: [], trouble: expect.stringContaining('4999000001') });
    emulator.silent.delete('CVREnhed');
    clock.forward(23 * 60 * MINUTE);
    emulator.put(company(2), clock.now() - 30 * MINUTE);
    const late = await page(unserved.cursor);
    expect(numbersIn(late.documents).toSorted()).toEqual([1, 2]);
    const read = contentsOf(late.documents).find(({ cvrNummer }) => cvrNummer === 95_000_001);
    expect(read?.['telefonNummer']).toBeUndefined();
    expect(late.again).toEqual(['CVR-1-95000001']);
    emulator.silent.clear();
    emulator.put(company(3), clock.now());
    expect(numbersIn((await page(late.cursor)).documents)).toEqual([3]);
  });

  it('omits sections whose entities answer empty though every unit has them', async () => {
    const { emulator, find } = await dafFixture();
    emulator.put(company(1));
    for (const entity of ['Navn', 'Branche', 'Adressering', 'Virksomhedsform']) emulator.silent.add(entity);
    const [read] = contentsOf(await find('95000001'));
    for (const section of ['navne', 'binavne', 'hovedbranche', 'bibranche1', 'beliggenhedsadresse', 'virksomhedsform'])
      expect(read?.[section]).toBeUndefined();
    expect(read?.['livsforloeb']).toHaveLength(1);
  });

  it('handles Danish times that claim to be UTC', async () => {
    const { emulator, page, clock } = await dafFixture();
    emulator.put(company(1), clock.now() + 120 * MINUTE);
    const { documents, cursor } = await page();
    expect(numbersIn(documents)).toEqual([1]);
    emulator.put(company(2), clock.now() + 121 * MINUTE);
    expect(numbersIn((await page(cursor)).documents)).toEqual([2]);
  });
});
