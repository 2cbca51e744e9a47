/** Error answers of the REST API. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';

/** An error answer with Salesforce's body: a list of one. */
export const refusal = (status: number, errorCode: string, message: string, extra: object = {}): EmulatorAnswer => ({
  status,
  body: [{ message, errorCode, ...extra }],
});

/** One error of one record; collections call the code `statusCode`. */
export interface RecordError {
  readonly statusCode: string;
  readonly message: string;
  readonly fields: readonly string[];
}

export const recordError = (statusCode: string, message: string, fields: readonly string[] = []): RecordError => ({
  statusCode,
  message,
  fields,
});
