import { expect, test } from 'vitest';
import { readAnswer } from '../../../../src/service/register/source/hits.ts';
import { textOf } from '../../../../src/service/register/source/source.ts';

const hit = (id: number, source: string, rest = `,"sort":[${id},"${id}"]`) =>
  `{"_index":"cvr-v","_type":"_doc","_id":"${id}","_score":null,"_source":${source}${rest}}`;
const answer = (...hits: readonly string[]) => `{"took":1,"hits":{"total":9,"hits":[${hits.join(',')}]}}`;

/** What is read of an answer, hit by hit. */
const read = (body: string) =>
  (readAnswer(Buffer.from(body)).hits ?? []).map(({ head, hasDocument, document }) => ({
    head,
    document: hasDocument ? document() : undefined,
  }));

const DOCUMENTS = [
  '{"Vrvirksomhed":{"cvrNummer":1}}',
  // Texts that look like the answer's own parts, and keys that are called as its own.
  JSON.stringify({ Vrvirksomhed: { navn: '{"_index":"x","_source":{"a":1},"sort":[1,"2"]}', sort: [3, '4'] } }),
  '{"Vrvirksomhed":{"_source":{"_index":1},"sort":[],"tal":1.50}}',
  '{"Vrvirksomhed":{"navn":"Æble \\u00e6 \\"\\\\"}}',
];

test('documents are read as JSON.parse of the whole answer reads them', () => {
  const body = answer(...DOCUMENTS.map((source, at) => hit(at, source)));
  const expected = DOCUMENTS.map((source, at) => ({ head: { sort: [at, String(at)] }, document: JSON.parse(source) }));
  expect(read(body)).toMatchObject(expected);
  const cut = body.replace(`,${hit(2, DOCUMENTS[2] ?? '')}`, '');
  expect(read(cut)).toMatchObject(expected.toSpliced(2, 1));
});

test('each document keeps its text, so that it is compared without being serialised', () => {
  const texts = ['{"tal":1.50}', '{"navn":"\\u00e6"}', ...DOCUMENTS.slice(0, 2)];
  const { hits } = readAnswer(Buffer.from(answer(...texts.map((source, at) => hit(at, source)))));
  expect(hits?.map(({ document }) => textOf(document()))).toEqual(texts);
});

test('hits without a document, or without sort values, are read too', () => {
  const bare = '{"_index":"cvr-v","_id":"7","sort":[7,"7"]}';
  expect(read(answer(hit(0, '{"a":1}'), bare, hit(1, '{"b":2}')))).toMatchObject([
    { document: { a: 1 } },
    { head: { _id: '7' }, document: undefined },
    { document: { b: 2 } },
  ]);
  expect(read(answer(hit(0, '{"a":1}', ''), hit(1, '{"b":2}')))).toMatchObject([
    { document: { a: 1 } },
    { document: { b: 2 } },
  ]);
  expect(read(answer(hit(0, 'null'), hit(1, '[]'), hit(2, '"x"')))).toMatchObject([
    { document: undefined },
    { document: undefined },
    { document: undefined },
  ]);
});

test('an answer in another layout is read whole', () => {
  const json = { hits: { hits: [{ _source: { a: 1 }, _index: 'x', sort: [1, '1'] }] } };
  for (const text of [JSON.stringify(json), JSON.stringify(json, null, 2)])
    expect(read(text)).toMatchObject([{ head: { sort: [1, '1'] }, document: { a: 1 } }]);
  const nested = [
    '{"_index":"x","fields":{"_source":{"a":1}},"sort":[1,"1"]}',
    '{"_index":"x","fields":{"_source":{"a":1},"sort":[2]},"sort":[1,"1"]}',
    '{"_index":"x","fields":{"_source":{"a":1},"sort":[1]}}',
  ];
  for (const one of nested) expect(read(answer(one))).toMatchObject([{ head: JSON.parse(one), document: undefined }]);
});

test('an answer that is cut anywhere is refused, and one with a broken document when that is reached', () => {
  const body = answer(hit(0, '{"a":1}'), hit(1, '{"b":2}'));
  for (let end = 0; end < body.length; end++) expect(() => read(body.slice(0, end))).toThrow('cut or broken');
  const { hits = [] } = readAnswer(Buffer.from(answer(hit(0, '{"a":1}'), hit(1, '{"b":}'))));
  expect(hits[0]?.document()).toEqual({ a: 1 });
  expect(() => hits[1]?.document()).toThrow('cut or broken');
});
