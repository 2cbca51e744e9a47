/** A case of the contract: one operation on each face. */
import type { Asked, Faces } from './faces.ts';

/** One operation on each face. */
export interface Case {
  readonly operation: string;
  readonly what: string;
  /** Makes what the operation is about; its id, and others that the request names. */
  readonly make: (faces: Faces) => Promise<readonly [id: string, other?: string]>;
  readonly ask: (id: string, other: string) => Asked;
  /** Undefined if it leaves no entry in the audit. */
  readonly result: string | undefined;
  /** The audit's name of it; that of the operation if absent. */
  readonly action?: string;
  /** What the second request of the same comes to; a new thing if absent. */
  readonly again?: 'unchanged' | 404 | 409;
}

/** An id that nothing has. */
export const NOBODY = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
export const NEW = ['', NOBODY] as const;
