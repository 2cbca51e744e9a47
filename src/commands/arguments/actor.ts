/** Who runs a command, as the audit names them. */
import { userInfo } from 'node:os';
import type { AuditActor } from '../../runtime/operators/audit.ts';

/** The user of the machine; a container may have a user without a name. */
export function commandActor(): AuditActor {
  try {
    return { kind: 'user', name: userInfo().username };
  } catch {
    return { kind: 'user', name: `uid ${process.getuid?.() ?? 'unknown'}` };
  }
}
