import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../../src/service/reports/document/facts.ts';
import { readFacts } from '../../../../src/service/reports/document/read.ts';
import { annual, instance, plus } from '../instance.ts';
import { factsOf, valuesOf } from '../reading.ts';

const refusal = async (text: string): Promise<string> => {
  const ended = await factsOf(text).catch((error: unknown) => error);
  if (ended instanceof DocumentError) return ended.message;
  throw new Error('the document was not refused', { cause: ended });
};
const plain = annual({ figures: { 'fsa:Assets': 1_000 } });

describe('an instance', () => {
  it('is read by namespace, whatever its prefixes', async () => {
    const facts = await factsOf(instance({ ...plain, prefixes: { fsa: 'e', gsd: 'c', cmn: 'EOGS3000' } }));
    expect(valuesOf(facts, 'fsa:Assets')).toEqual(['1000']);
    expect(valuesOf(facts, 'gsd:NameOfReportingEntity')).toEqual(['Rugbrød og Rav ApS']);
  });

  it('whose prefixes are swapped is not misread', async () => {
    const facts = await factsOf(instance({ ...plain, prefixes: { fsa: 'gsd', gsd: 'fsa' } }));
    expect(valuesOf(facts, 'fsa:Assets')).toEqual(['1000']);
  });

  it('may be in the default namespace, and state contexts after their facts', async () => {
    const text = instance(plain).replaceAll('xbrli:', '').replace('xmlns:xbrli=', 'xmlns=');
    const [head = '', tail = ''] = text.split('</context>\n<gsd');
    const [open = '', ...resources] = head.split('<unit');
    const late = `${open}<gsd${tail.replace('</xbrl>', '')}<unit${resources.join('<unit')}</context></xbrl>`;
    expect(valuesOf(await factsOf(late), 'fsa:Assets')).toEqual(['1000']);
  });

  it('states dimensions in scenario or segment, with members of any prefix', async () => {
    const members = { 'cmn:ConsolidatedSoloDimension': 'cmn:ConsolidatedMember' };
    for (const within of ['scenario', 'segment'] as const) {
      const group = plus(
        plain,
        [{ id: 'group', end: '2023-12-31', members, within }],
        [{ concept: 'fsa:Assets', at: 'group', value: 2_000, unit: 'kroner' }],
      );
      const facts = await factsOf(instance({ ...group, prefixes: { cmn: 'd' } }));
      expect(facts.get('fsa:Assets')?.map(({ value, context }) => [value, context.dimensions])).toEqual([
        ['1000', {}],
        ['2000', members],
      ]);
    }
  });

  it('states units by measure, whatever their id', async () => {
    const facts = await factsOf(
      instance({
        ...annual({ figures: { 'fsa:Assets': 1, 'fsa:AverageNumberOfEmployees': 7 } }),
        units: { kroner: 'iso4217:EUR', count: 'pure' },
      }),
    );
    expect(facts.get('fsa:Assets')?.[0]?.unit).toBe('EUR');
    expect(facts.get('fsa:AverageNumberOfEmployees')?.[0]?.unit).toBe('pure');
  });

  it('omits nil facts, and facts whose context or unit is missing', async () => {
    const text = instance(plain)
      .replace('xmlns:xbrldi=', 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:xbrldi=')
      .replace(
        '</xbrli:xbrl>',
        [
          '<fsa:Equity contextRef="end" unitRef="kroner" i:nil="true"/>',
          '<fsa:Equity contextRef="nowhere" unitRef="kroner">1</fsa:Equity>',
          '<fsa:Equity contextRef="end" unitRef="rubles">2</fsa:Equity>',
          '<fsa:Equity contextRef="end" unitRef="kroner" i:nil="false">3</fsa:Equity></xbrli:xbrl>',
        ].join(''),
      );
    expect(valuesOf(await factsOf(text), 'fsa:Equity')).toEqual(['3']);
  });

  it('may hold text as CDATA and references', async () => {
    const text = instance(annual({ texts: { 'mrv:ManagementsReview': 'X' } })).replace(
      '>X<',
      '>A &amp; <![CDATA[B < C]]>&#233;<',
    );
    expect(valuesOf(await factsOf(text), 'mrv:ManagementsReview')).toEqual(['A & B < Cé']);
  });

  it('ends a period at midnight with the day before', async () => {
    const places = [{ id: 'clock', start: '2023-01-01T00:00:00', end: '2024-01-01T00:00:00' }];
    const facts = await factsOf(
      instance(plus(plain, places, [{ concept: 'fsa:Revenue', at: 'clock', value: 1, unit: 'kroner' }])),
    );
    expect(facts.get('fsa:Revenue')?.[0]?.context).toMatchObject({ start: '2023-01-01', end: '2023-12-31' });
  });
});

describe('a hostile or broken document', () => {
  const within = (prolog: string, body = '&a;') =>
    instance(plain).replace('?>\n', `?>\n${prolog}\n`).replace('Rugbrød', `${body}Rugbrød`);

  it('may not declare entities, neither a billion laughs nor a file', async () => {
    const laughs = Array.from({ length: 30 }, (_, at) => `<!ENTITY a${at + 1} "&a${at};&a${at};">`).join('');
    const message = /declares entities/;
    expect(await refusal(within(`<!DOCTYPE x [<!ENTITY a0 "ha">${laughs}]>`, '&a30;'))).toMatch(message);
    expect(await refusal(within('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'))).toMatch(message);
    expect(await refusal(within('<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd">%p;]>', ''))).toMatch(
      message,
    );
  });

  it('reads no external document type', async () => {
    const named = (body: string) => within('<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">', body);
    expect(valuesOf(await factsOf(named('')), 'fsa:Assets')).toEqual(['1000']);
    expect(await refusal(named('&a;'))).toMatch(/not well-formed.*undefined entity/);
  });

  it('is refused if it is cut, not XML, or nested without end', async () => {
    const text = instance(plain);
    expect(await refusal(text.slice(0, -20))).toMatch(/not well-formed/);
    expect(await refusal('<html><p>503</html>')).toMatch(/not well-formed/);
    expect(await refusal('')).toMatch(/not well-formed/);
    expect(await refusal('%PDF-1.7 …')).toBe('is a PDF');
    expect(await refusal(`${'<a>'.repeat(300)}${'</a>'.repeat(300)}`)).toMatch(/nested deeper than 256/);
    expect(await refusal(text.replaceAll('fsa:Assets', 'nobody:Assets'))).toMatch(/unbound namespace prefix/);
  });

  it('is refused if it states more facts than any report', async () => {
    const fact = '<fsa:Equity contextRef="end" unitRef="kroner">1</fsa:Equity>';
    const text = instance(plain).replace('</xbrli:xbrl>', `${fact.repeat(200_001)}</xbrli:xbrl>`);
    expect(await refusal(text)).toMatch(/more than 200000 facts/);
  });

  it('keeps no more of a text than is useful', async () => {
    const facts = await factsOf(instance(annual({ texts: { 'mrv:ManagementsReview': 'lang '.repeat(200_000) } })));
    expect(valuesOf(facts, 'mrv:ManagementsReview')[0]?.length).toBe(64 * 1024);
  });
});

describe('a long document', () => {
  const long = Buffer.from(
    instance(plain).replace(
      '</xbrli:xbrl>',
      `${'<fsa:Other contextRef="end">x</fsa:Other>'.repeat(200_000)}</xbrli:xbrl>`,
    ),
  );

  it('lets other work run while it is read', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await readFacts(long, () => false);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  it('is abandoned if nobody waits for it', async () => {
    await expect(readFacts(long, () => false, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });
});
