const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const;

/** The first argument of each console call while `work` runs; nothing is printed meanwhile. */
export async function logsDuring(work: () => Promise<void>): Promise<readonly unknown[]> {
  const logged: unknown[] = [];
  const target: Partial<Record<string, unknown>> = globalThis.console as object;
  const before = METHODS.map((method) => [method, target[method]] as const);
  for (const method of METHODS) target[method] = (...all: readonly unknown[]) => void logged.push(all[0]);
  try {
    await work();
  } finally {
    for (const [method, original] of before) target[method] = original;
  }
  return logged;
}
