/** Why beneficial owners may be kept: the part `beneficialOwners` of the configuration. */
import Type from 'typebox';
import { CLOSED } from './shapes.ts';

export const beneficialOwners = Type.Object(
  {
    legalBasis: Type.String({
      minLength: 20,
      description:
        'Your legal basis, in words: an obliged entity in customer due diligence, or a legitimate interest that the register approved.',
    }),
  },
  {
    ...CLOSED,
    description:
      'Beneficial owners are not public since September 2025: without a legal basis cvrsync does not read, keep, send or write anything about them.',
  },
);
