import { userInfo } from 'node:os';
import type { AuditActor } from '../../runtime/operators/audit.ts';

/** Who runs a command, for the audit: the user of this process; in a container it may have no name. */
export function commandActor(): AuditActor {
  try {
    return { kind: 'user', name: userInfo().username };
  } catch {
    return { kind: 'user', name: `uid ${process.getuid?.() ?? 'unknown'}` };
  }
}
