/** Decides from an issuer's claims who a person is, and which role they have. Pure. */
import { ROLES, type Role } from '../../runtime/operators/operators.ts';
import type { IssuerSubject } from '../../runtime/operators/sign-on.ts';

/** An issuer's claims about a person; their values are unchecked. */
export type Claims = Readonly<Record<string, unknown>>;

export interface RoleMapping {
  readonly roleClaim: string;
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>;
}

/** The values of the claim that decides the role. */
export function roleValuesOf(claims: Claims, { roleClaim }: Pick<RoleMapping, 'roleClaim'>): readonly string[] {
  const value = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : undefined;
  return [value].flat().filter((each) => typeof each === 'string');
}

/** The highest role of the claims. */
export function roleOf(claims: Claims, mapping: RoleMapping): Role | undefined {
  const values = roleValuesOf(claims, mapping);
  return ROLES.findLast((role) => mapping.roles[role]?.some((value) => values.includes(value)));
}

/** A person by issuer and subject. The name is their mail address, unless the issuer says that it is unverified. */
export function subjectOf(issuer: string, claims: Claims): IssuerSubject {
  const { sub, email, email_verified: isVerified = true } = claims;
  const subject = `${issuer} ${String(sub)}`;
  // Some issuers send strings.
  const isProven = String(isVerified).toLowerCase() === 'true';
  const name = typeof email === 'string' && email !== '' && isProven ? email : String(sub);
  return { subject, name };
}
