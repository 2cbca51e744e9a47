/** `describe` of an emulated org: what the user may see and do, and no more. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import type { FieldDefinition } from './definitions.ts';
import type { Org } from './org.ts';

/** Answers `/sobjects/NAME/describe`; undefined for an object that the org lacks or the user may not see. */
export function describeObject(org: Org, name: string): EmulatorAnswer | undefined {
  const { mayEdit = true, mayCreate = true, mayEditTasks = true, notesEnabled = true } = org.options;
  const answer = (createable: boolean, updateable: boolean, fields: readonly object[] = []): EmulatorAnswer => ({
    status: 200,
    body: { name, label: name, createable, updateable, fields },
  });
  switch (name) {
    case 'Account': {
      const visible = [...org.definitions.values()].filter((definition) => org.field(definition.name) !== undefined);
      return answer(mayCreate, mayEdit, visible.map(fieldOf));
    }
    case 'Task':
      return answer(mayEditTasks, mayEditTasks);
    case 'ContentNote':
      return notesEnabled ? answer(true, true) : undefined;
    case 'ContentDocumentLink':
      return answer(true, true);
    default:
      return undefined;
  }
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
