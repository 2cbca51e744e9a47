/** Why beneficial owners may be kept: the part `beneficialOwners` of the configuration. */
import Type from 'typebox';
import { CLOSED } from './shapes.ts';

export const beneficialOwners = Type.Object(
  {
    legalBasis: Type.String({
      minLength: 20,
      description:
        'Why you may have them, in words: as an obliged entity in customer due diligence, or with a legitimate interest that the register has approved.',
    }),
  },
  {
    ...CLOSED,
    description:
      'Beneficial owners, which are not public since September 2025: without a legal basis nothing about them is read, kept, told or written.',
  },
);
