/** What the contract asks of operators. */
import { createOperator, revokeOperator } from '../../src/runtime/operators/operators.ts';
import type { Case } from './case.ts';
import type { Faces } from './faces.ts';

let made = 0;
/** An operator, revoked if asked; `subject`: one who signs in through single sign-on. */
const operator =
  ({ isRevoked = false, subject }: { readonly isRevoked?: boolean; readonly subject?: string } = {}) =>
  async ({ store }: Faces): Promise<readonly [string]> => {
    const name = `operator-${++made}`;
    await store.write(async (tx) => {
      await createOperator(tx, { name, role: 'viewer' }, 1);
      if (isRevoked) await revokeOperator(tx, name, 2);
      if (subject !== undefined)
        await tx
          .updateTable('operator')
          .set({ subject: `${subject}-${made}` })
          .where('name', '=', name)
          .execute();
    });
    return [name];
  };

export const OPERATOR_CASES: readonly Case[] = [
  {
    operation: 'operator.create',
    what: 'of a name that an operator had who is revoked',
    make: operator({ isRevoked: true }),
    ask: (id) => ({
      command: ['operators', 'create', ` ${id} `, '--role', 'operator'],
      api: ['POST', '/operators', { name: ` ${id} `, role: 'operator' }],
    }),
    result: 'created',
    again: 409,
  },
  {
    operation: 'operator.revoke',
    what: 'of an active one',
    make: operator(),
    ask: (id) => ({ command: ['operators', 'revoke', id], api: ['DELETE', `/operators/${id}`] }),
    result: 'revoked, sessions ended',
    again: 'unchanged',
  },
  {
    operation: 'operator.allow',
    what: 'of a revoked one',
    make: operator({ isRevoked: true, subject: 'issuer' }),
    ask: (id) => ({ command: ['operators', 'allow', id], api: ['POST', `/operators/${id}/allow`] }),
    result: 'may sign in again',
    again: 404,
  },
];
