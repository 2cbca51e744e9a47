/** Operations on operators, the people who may use the dashboard. */
import Type from 'typebox';
import * as stored from '../../runtime/operators/operators.ts';
import { isoTime, nullable, plainText, timeText } from '../../service/routes/schemas.ts';
import { defineOperation, Refused } from '../definition/operation.ts';

const ADMIN = { role: 'admin' } as const;
const name = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The name of the person, of 1 to 100 characters on one line',
  examples: ['ida'],
});
const role = Type.Enum(stored.ROLES, {
  description: 'viewer looks, operator decides and retries, admin also manages',
});
const known = Type.Object({ name: plainText('The name, as the list shows it', { maxLength: 200, example: 'ida' }) });
const unknownOperator = () => new Refused('unknown', 'there is no operator of this name');

export const createOperator = defineOperation({
  ...ADMIN,
  name: 'operator.create',
  about: 'create an operator',
  more: 'This answer holds the token to sign in with; no later answer does.',
  input: Type.Object({ name, role }),
  api: {
    method: 'POST',
    path: '/operators',
    operationId: 'createOperator',
    status: 201,
    answer: Type.Object({ name: Type.String(), role, token: Type.String() }),
    examples: [{ name: 'ida', role: 'operator' }],
    refusals: { 409: 'There is an active operator of this name' },
  },
  check(input) {
    const given: Partial<typeof input> = input;
    const isName = /^[^\p{Cc}]{1,100}$/u.test(given.name?.trim() ?? '');
    return [
      ...(isName ? [] : [{ path: '/name', message: 'is 1 to 100 characters on one line' }]),
      ...(given.role === undefined ? [{ path: '/role', message: `is one of ${stored.ROLES.join(', ')}` }] : []),
    ];
  },
  async change(tx, { name: given, role }, { now }) {
    const name = given.trim();
    const token = await stored.createOperator(tx, { name, role }, now);
    if (token === undefined)
      throw new Refused('conflict', `there is an operator ${name} already: revoke it first, or choose another name`);
    return { value: { name, role, token }, audit: { subject: name, detail: { role }, result: 'created' } };
  },
});

export const listOperators = defineOperation({
  ...ADMIN,
  name: 'operator.list',
  about: 'list all operators with their roles, the revoked ones too',
  input: Type.Object({}),
  api: {
    method: 'GET',
    path: '/operators',
    operationId: 'listOperators',
    status: 200,
    answer: Type.Array(
      Type.Object({
        name: Type.String(),
        role,
        createdAt: timeText('When the operator was created'),
        revokedAt: nullable(timeText('When the operator was revoked')),
      }),
      { description: 'The operators' },
    ),
  },
  read: async (db) => ({ value: await stored.listOperators(db) }),
  view: (operators: readonly stored.Operator[]) =>
    operators.map(({ createdAt, revokedAt, ...operator }) => {
      return { ...operator, createdAt: isoTime(createdAt), revokedAt: isoTime(revokedAt) };
    }),
});

export const revokeOperator = defineOperation({
  ...ADMIN,
  name: 'operator.revoke',
  about: "revoke an operator and end the operator's sessions at once",
  input: known,
  api: {
    method: 'DELETE',
    path: '/operators/:name',
    operationId: 'revokeOperator',
    status: 204,
    answer: 'The operator is revoked, now or before',
    refusals: { 404: 'There is no such operator' },
  },
  async change(tx, { name }, { now }) {
    const was = await stored.revokeOperator(tx, name, now);
    // The given name may be a mistyped token, so the error does not repeat it.
    if (was === undefined) throw unknownOperator();
    const value = { name, revoked: true };
    return was === 'active' ? { value, audit: { subject: name, result: 'revoked, sessions ended' } } : { value };
  },
});

export const allowOperator = defineOperation({
  ...ADMIN,
  name: 'operator.allow',
  about: 'let a revoked operator sign in again through single sign-on',
  input: known,
  api: {
    method: 'POST',
    path: '/operators/:name/allow',
    operationId: 'allowOperator',
    status: 204,
    answer: 'The operator may sign in again',
    refusals: { 404: 'There is no revoked operator of this name who signs in through single sign-on' },
  },
  async change(tx, { name }) {
    if (!(await stored.allowOperator(tx, name)))
      throw new Refused('unknown', 'there is no revoked operator of this name who signs in through single sign-on');
    return { value: { name, allowed: true }, audit: { subject: name, result: 'may sign in again' } };
  },
});
