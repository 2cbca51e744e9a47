/**
 * A CRM's property for tests: a plain text, or what is said of it.
 */
import type { Property } from '../../providers/provider.ts';

export const propertyOf = (type: Property['type'] = 'string', more: Partial<Property> = {}): Property => ({
  name: 'a_property',
  label: 'A property',
  type,
  writable: true,
  ...more,
});
