import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../../src/service/reports/document/facts.ts';
import { annual, plus } from '../instance.ts';
import { inlinePage, page } from '../page.ts';
import { dataOf, factsOf, valuesOf } from '../reading.ts';

const stated = annual();
const read = (body: string, hidden = '') => factsOf(inlinePage(stated, { body, hidden }));
const REVIEW = 'name="mrv:ManagementsReview" contextRef="year"';
const number = (attributes: string, text: string, concept = 'fsa:Assets', at = 'end') =>
  `<ix:nonFraction name="${concept}" contextRef="${at}" unitRef="kroner" decimals="0" ${attributes}>${text}</ix:nonFraction>`;

describe('a page', () => {
  it('says the same as an equal instance, in thousands and with either decimal point', async () => {
    const report = annual({
      figures: { 'fsa:Assets': 1_234_567_000, 'fsa:Equity': -5_000, 'fsa:ProfitLoss': 0, 'fsa:Revenue': 12.5 },
    });
    for (const style of ['dot', 'comma'] as const) {
      for (const namespace of ['http://www.xbrl.org/2013/inlineXBRL', 'http://www.xbrl.org/2008/inlineXBRL']) {
        const facts = await factsOf(page(report, { thousands: true, style, namespace }));
        const figures = ['Assets', 'Equity', 'ProfitLoss', 'Revenue'].map((name) => valuesOf(facts, `fsa:${name}`)[0]);
        expect(figures).toEqual(['1234567000', '-5000', '0', '12.5']);
      }
    }
  });

  it('has facts in its hidden header, and states them again where people see them', async () => {
    const twice = plus(
      annual({ figures: { 'fsa:Assets': 5 } }),
      [],
      [{ concept: 'fsa:Assets', at: 'end', value: 5, unit: 'kroner' }],
    );
    const data = await dataOf(page(twice, { hidden: ['gsd:NameOfReportingEntity', 'gsd:ReportingPeriodEndDate'] }));
    expect(data.reportingCompanyName?.value).toBe('Rugbrød og Rav ApS');
    expect(data.assets).toMatchObject({ value: 5, possibleError: false });
  });

  it('nests one fact in another', async () => {
    const facts = await read(
      `<ix:nonNumeric ${REVIEW}>Aktiver: ${number('format="ixt:num-dot-decimal" scale="3"', `<b>${number('format="ixt:num-dot-decimal" scale="3"', '1,0<i>00</i>', 'fsa:Equity')}</b>`)} kr.</ix:nonNumeric>`,
    );
    expect(valuesOf(facts, 'fsa:Assets')).toEqual(['1000000']);
    expect(valuesOf(facts, 'fsa:Equity')).toEqual(['1000000']);
    expect(valuesOf(facts, 'mrv:ManagementsReview')).toEqual(['Aktiver: 1,000 kr.']);
  });

  it('leaves out what it excludes, but not the facts in there', async () => {
    const facts = await read(
      `<ix:nonNumeric ${REVIEW}>Før <ix:exclude>side 7 ${number('', '12')}</ix:exclude>efter</ix:nonNumeric>`,
    );
    expect(valuesOf(facts, 'mrv:ManagementsReview')).toEqual(['Før efter']);
    expect(valuesOf(facts, 'fsa:Assets')).toEqual(['12']);
  });

  it('has nothing for a nil fact, and the text of an unreadable number', async () => {
    const facts = await read(
      `${number('xsi:nil="true"', '')}${number('format="ixt:num-dot-decimal"', 'tolv', 'fsa:Equity')}`,
    );
    expect(facts.has('fsa:Assets')).toBe(false);
    expect(valuesOf(facts, 'fsa:Equity')).toEqual(['?tolv']);
  });

  it('may name XHTML’s document type and use its non-breaking space', async () => {
    const text = inlinePage(stated, {
      body: `<p>a&nbsp;b</p>${number('format="ixt:num-dot-decimal"', '1&nbsp;000')}`,
    }).replace(
      '?>\n',
      '?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">\n',
    );
    expect(valuesOf(await factsOf(text), 'fsa:Assets')).toEqual(['1000']);
  });

  it('gives dates as it formats them', async () => {
    const facts = await read(
      '<ix:nonNumeric name="arr:SignatureOfAuditorsDate" contextRef="year" format="ixt:date-day-monthname-year-da" continuedAt="b">27. marts</ix:nonNumeric> <ix:continuation id="b"> 2024</ix:continuation>',
    );
    expect(valuesOf(facts, 'arr:SignatureOfAuditorsDate')).toEqual(['2024-03-27']);
  });
});

describe('a continued text', () => {
  const parts = Array.from(
    { length: 700 },
    (_, at) => `<ix:continuation id="p${at}"${at < 699 ? ` continuedAt="p${at + 1}"` : ''}>${at} </ix:continuation>`,
  );
  const whole = `start ${Array.from({ length: 700 }, (_, at) => `${at} `).join('')}`;
  const first = `<ix:nonNumeric ${REVIEW} continuedAt="p0">start </ix:nonNumeric>`;

  it('is put together over hundreds of parts', async () => {
    expect(valuesOf(await read(first + parts.join('<hr/>')), 'mrv:ManagementsReview')).toEqual([whole]);
  });

  it('is put together whatever the order of its parts', async () => {
    expect(valuesOf(await read(parts.toReversed().join('') + first), 'mrv:ManagementsReview')).toEqual([whole]);
  });

  it('ends at a missing part, and where its parts form a circle', async () => {
    const missing = `<ix:nonNumeric ${REVIEW} continuedAt="gone">a</ix:nonNumeric>`;
    const circle = `<ix:nonNumeric ${REVIEW} continuedAt="x">b</ix:nonNumeric><ix:continuation id="x" continuedAt="y">c</ix:continuation><ix:continuation id="y" continuedAt="x">d</ix:continuation>`;
    expect(valuesOf(await read(missing + circle), 'mrv:ManagementsReview')).toEqual(['a', 'bcd']);
  });

  it('is refused if thousands of facts begin one long chain of parts, which would take quadratic time', async () => {
    const chain = Array.from({ length: 12_000 }, (_, at) => `<ix:continuation id="p${at}" continuedAt="p${at + 1}"/>`);
    await expect(read(first.repeat(5_000) + chain.join(''))).rejects.toThrow(DocumentError);
  });

  it('is refused if the same text is marked repeatedly', async () => {
    const nested = `${'<ix:continuation id="n">'.repeat(200)}${'x'.repeat(60_000)}${'</ix:continuation>'.repeat(200)}`;
    await expect(read(nested.repeat(4))).rejects.toThrow(DocumentError);
  });
});
