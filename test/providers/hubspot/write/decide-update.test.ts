import { describe, expect, it } from 'vitest';
import { readErrorBody } from '../../../../providers/hubspot/client/error-body.ts';
import {
  decideAnswer,
  decideForeign,
  decideRefusal,
  type PatchStep,
} from '../../../../providers/hubspot/write/decide-update.ts';
import type { Patch } from '../../../../providers/provider.ts';

const patch = (id: string, ...names: string[]): Patch => ({
  id,
  properties: Object.fromEntries(names.map((name) => [name, 'x'])),
});
const [one, two, three] = [patch('1', 'name'), patch('2', 'name', 'industry'), patch('3', 'name')];
const group = [one, two, three];
const found = (id: string, trace?: string) => ({
  id,
  properties: {},
  ...(trace === undefined ? {} : { objectWriteTraceId: trace }),
});
const error = (category: string, context: object = {}, faults: readonly object[] = []) =>
  readErrorBody({ category, message: `no good: ${JSON.stringify(faults)}`, context });
const kinds = ({ outcomes }: PatchStep) => outcomes.map((o) => [o.id, o.kind]);

describe('an answer to a batch write', () => {
  it('never treats a missing result as success', () => {
    const step = decideAnswer(group, { records: [found('1')], errors: [] });
    expect(step.outcomes.map((o) => [o.id, o.kind])).toEqual([
      ['1', 'written'],
      ['2', 'retry'],
      ['3', 'retry'],
    ]);
  });

  it('prefers an error to a result beside it', () => {
    const step = decideAnswer([two], {
      records: [found('2')],
      errors: [error('VALIDATION_ERROR', { objectWriteTraceId: ['2'] })],
    });
    expect(step.outcomes).toMatchObject([{ kind: 'rejected', properties: {} }]);
  });

  it('looks a record up whose write was answered with the id of another one', () => {
    const step = decideAnswer([one], { records: [found('9', '1')], errors: [] });
    expect([step.outcomes, step.missing]).toEqual([[], ['1']]);
  });

  it('blames the call for records without a result if an error names nobody, and a record alone for its own', () => {
    const errors = [error('VALIDATION_ERROR', {}, [{ name: 'industry', message: 'bad', error: 'INVALID_OPTION' }])];
    expect(kinds(decideAnswer(group, { records: [found('1')], errors }))).toEqual([
      ['1', 'written'],
      ['2', 'call-refused'],
      ['3', 'call-refused'],
    ]);
    const step = decideAnswer(group, { records: [found('1'), found('3')], errors });
    expect(step.outcomes).toContainEqual({
      kind: 'rejected',
      id: '2',
      reason: 'industry: bad',
      properties: { industry: 'bad' },
    });
  });

  it('looks up records that were not found, and repeats what is no refusal', () => {
    const errors = [error('OBJECT_NOT_FOUND', { ids: ['1', '3'] }), error('INTERNAL_ERROR', { ids: ['2'] })];
    const step = decideAnswer(group, { records: [], errors });
    expect([step.missing, step.outcomes.map((o) => o.kind)]).toEqual([['1', '3'], ['retry']]);
  });
});

describe('a batch refused as a whole', () => {
  it('blames the call if it names no record for sure', () => {
    expect(kinds(decideRefusal(group, error('VALIDATION_ERROR')))).toEqual([
      ['1', 'call-refused'],
      ['2', 'call-refused'],
      ['3', 'call-refused'],
    ]);
  });

  it('blames the call, even for one record, if the answer is not from HubSpot', () => {
    expect(decideForeign([one], 403).outcomes).toEqual([
      { kind: 'call-refused', id: '1', reason: expect.stringMatching(/firewall.*403.*HubSpot did not answer/u) },
    ]);
  });

  it('blames every record with a property that does not exist, at once', () => {
    const faults = [{ name: 'name', message: 'does not exist', error: 'PROPERTY_DOESNT_EXIST' }];
    const step = decideRefusal([...group, patch('4', 'zip')], error('VALIDATION_ERROR', {}, faults));
    expect(kinds(step)).toEqual([
      ['1', 'rejected'],
      ['2', 'rejected'],
      ['3', 'rejected'],
      ['4', 'call-refused'],
    ]);
  });

  it('blames a value only on the one record that has the property', () => {
    const option = (name: string) => [{ name, message: 'not an option', error: 'INVALID_OPTION' }];
    expect(kinds(decideRefusal(group, error('VALIDATION_ERROR', {}, option('industry'))))).toEqual([
      ['2', 'rejected'],
      ['1', 'call-refused'],
      ['3', 'call-refused'],
    ]);
    const unsure = decideRefusal(group, error('VALIDATION_ERROR', {}, option('name')));
    expect(new Set(unsure.outcomes.map(({ kind }) => kind))).toEqual(new Set(['call-refused']));
  });

  it('is about the record as a whole if the property is not among those written', () => {
    const faults = [{ name: 'cvr_form', message: 'is required', error: 'REQUIRED' }];
    expect(decideRefusal([one], error('VALIDATION_ERROR', {}, faults)).outcomes).toEqual([
      { kind: 'rejected', id: '1', reason: 'cvr_form: is required', properties: {} },
    ]);
  });
});
