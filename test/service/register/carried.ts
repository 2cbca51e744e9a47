/** The 17 events that Datafordeler carries as the register does, and half of one. */
export const CARRIED: ReadonlySet<string> = new Set([
  ...['name', 'altNames', 'address', 'industry', 'altIndustries', 'form', 'email', 'fax', 'phoneNumber', 'status'],
  ...['lifetimeStarted', 'lifetimeEnded', 'newCompany', 'pUnitUpdated', 'pUnitAdded', 'pUnitRemoved'],
  ...['commercialProtection', 'stakeholders'],
]);
