/** A folder for what is made once in a test run and copied by its tests: see `newStoreUrl`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    templates: string;
  }
}

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'cvrsync-templates-'));
  project.provide('templates', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
