/** The package export `cvrsync/testing`: the conformance suite, and the server for a fake of the CRM. */
export { BrokenRule, type Check, conformance, judge, type RuleResult } from './kit/conformance/conformance.ts';
export { openTestHttp, type TestHttp } from './kit/conformance/lab/http.ts';
export { defineSubject, type FakeCrm, type Lack, type Subject } from './kit/conformance/lab/subject.ts';
export {
  type Call,
  type CrmEmulator,
  type EmulatorAnswer,
  type EmulatorHandler,
  type EmulatorOptions,
  type EmulatorRequest,
  type FaultAction,
  type ScriptedFault,
  type ServedEmulator,
  serveEmulator,
} from './kit/emulator/emulator.ts';
export type { PropertyValue } from './provider.ts';
