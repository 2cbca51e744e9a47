/** The objects of an emulated org other than Account: the fields that cvrsync reads, and their rows. */
import type { PropertyValue } from '../../../provider.ts';
import { toLongId } from '../../../salesforce/client/ids.ts';

/** One row; values by field, without blanks. */
export interface StoredRow {
  readonly id: string;
  readonly object: string;
  readonly values: Record<string, PropertyValue>;
  readonly createdAt: number;
  deleted: boolean;
}

export interface ObjectSpec {
  readonly prefix: string;
  readonly fields: readonly string[];
  /** Fields that a query may not filter by. */
  readonly unfilterable?: readonly string[];
  /** Only the Tooling API knows the object. */
  readonly tooling?: true;
}

/**
 * https://developer.salesforce.com/docs/atlas.en-us.object_reference.meta/object_reference/sforce_api_objects_list.htm
 */
export const OBJECTS: Readonly<Record<string, ObjectSpec>> = {
  Organization: { prefix: '00D', fields: ['Name', 'OrganizationType', 'IsSandbox'] },
  CurrencyType: { prefix: '01L', fields: ['IsoCode', 'IsActive', 'IsCorporate', 'ConversionRate'] },
  AccountHistory: {
    prefix: '017',
    fields: ['AccountId', 'Field', 'OldValue', 'NewValue', 'CreatedById', 'CreatedBy.Name'],
    unfilterable: ['OldValue', 'NewValue'],
  },
  Task: {
    prefix: '00T',
    fields: ['Subject', 'WhatId', 'Status', 'ActivityDate', 'Description'],
    unfilterable: ['Description'],
  },
  TaskStatus: { prefix: '01J', fields: ['MasterLabel', 'IsClosed', 'SortOrder'] },
  ContentNote: { prefix: '069', fields: ['Title', 'Content', 'TextPreview'], unfilterable: ['Content'] },
  ContentDocumentLink: {
    prefix: '06A',
    fields: [
      'ContentDocumentId',
      'LinkedEntityId',
      'ShareType',
      'ContentDocument.Title',
      'ContentDocument.CreatedDate',
    ],
  },
  PermissionSet: { prefix: '0PS', fields: ['Name', 'Label', 'Description'] },
  PermissionSetAssignment: { prefix: '0Pa', fields: ['PermissionSetId', 'AssigneeId'] },
  FieldPermissions: {
    prefix: '01k',
    fields: ['ParentId', 'SobjectType', 'Field', 'PermissionsRead', 'PermissionsEdit'],
  },
  DuplicateRule: { prefix: '0Bm', fields: ['DeveloperName', 'MasterLabel', 'SobjectType', 'IsActive'] },
  CustomField: { prefix: '00N', fields: ['DeveloperName', 'TableEnumOrId', 'NamespacePrefix'], tooling: true },
  ValidationRule: {
    prefix: '03d',
    fields: ['ValidationName', 'Active', 'ErrorMessage', 'Description', 'EntityDefinition.QualifiedApiName'],
    tooling: true,
  },
};

export interface Tables {
  insert(object: string, values: Readonly<Record<string, PropertyValue>>, id?: string): StoredRow;
  rows(object: string): readonly StoredRow[];
  /** Removes rows that a failed all-or-none call inserted. */
  remove(rows: readonly StoredRow[]): void;
}

export function openTables(now: () => number): Tables {
  const byObject = new Map<string, StoredRow[]>();
  let made = 0;
  const rowsOf = (object: string): StoredRow[] => {
    const rows = byObject.get(object) ?? [];
    byObject.set(object, rows);
    return rows;
  };
  return {
    insert(object, values, id) {
      made += 1;
      const prefix = OBJECTS[object]?.prefix ?? '0XX';
      const row: StoredRow = {
        id: id ?? toLongId(`${prefix}Qy${String(made).padStart(10, '0')}`),
        object,
        values: { ...values },
        createdAt: now(),
        deleted: false,
      };
      rowsOf(object).push(row);
      return row;
    },
    rows: rowsOf,
    remove(gone) {
      for (const row of gone) {
        const rows = rowsOf(row.object);
        const at = rows.indexOf(row);
        if (at >= 0) rows.splice(at, 1);
      }
    },
  };
}

/** Adds a custom field to the list of the Tooling API. */
export const listField = (tables: Tables, name: string): StoredRow =>
  tables.insert('CustomField', {
    DeveloperName: name.replace(/__c$/, ''),
    TableEnumOrId: 'Account',
    NamespacePrefix: null,
  });
