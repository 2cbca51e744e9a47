/** `describe` of an emulated org: what the user may see, and no more. */
import type { EmulatorAnswer } from '../../emulator.ts';
import type { FieldDefinition } from './definitions.ts';
import type { Org } from './org.ts';

/** Answers `/sobjects/Account/describe`. */
export function describeAccount(org: Org): EmulatorAnswer {
  const visible = [...org.definitions.values()].filter((definition) => org.field(definition.name) !== undefined);
  return {
    status: 200,
    body: { name: 'Account', label: 'Account', keyPrefix: '001', updateable: true, fields: visible.map(fieldOf) },
  };
}

const fieldOf = (field: FieldDefinition): object => ({
  name: field.name,
  label: field.label,
  type: field.type,
  length: field.length,
  byteLength: field.length * 3,
  scale: field.scale,
  precision: field.type === 'double' || field.type === 'currency' ? 18 : 0,
  digits: field.digits,
  custom: field.name.endsWith('__c'),
  updateable: field.updateable,
  createable: field.updateable,
  nillable: field.nillable,
  defaultedOnCreate: !field.nillable && !field.required,
  filterable: field.filterable,
  unique: field.unique,
  externalId: field.unique,
  idLookup: field.unique || field.name === 'Id',
  calculated: false,
  restrictedPicklist: field.restricted,
  picklistValues: field.values.map((value) => ({ value, label: value, active: true, defaultValue: false })),
});
