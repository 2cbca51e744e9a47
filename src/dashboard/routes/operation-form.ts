/** Serves an operation as the form of a page: the fields become its input, and its result the next page. */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { Server } from '../../http/server/server.ts';
import {
  type Frozen,
  invalid,
  type MassPreview,
  type Operation,
  type OperationCaller,
  perform,
  preview,
  Refused,
} from '../../operations/definition/operation.ts';
import type { FormBounds } from '../access/forms.ts';
import { type Fields, fieldValue, fieldValues } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { messagePage, notFoundPage } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, type RouteDeps } from './routes.ts';

type Next = string | PageBody | Promise<string | PageBody>;

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of what a form creates: sent twice, the form names the same one. */
export function idIn(fields: Fields): { readonly id: string } {
  const id = fieldValue(fields, 'id');
  if (!GUID.test(id)) throw invalid('/id', 'is not one of this form');
  return { id };
}

interface FormFace<I extends TObject, R> {
  readonly path: string;
  readonly form?: FormBounds;
  /** Fields with another name than their property. */
  readonly names?: Readonly<Record<string, string>>;
  /** The input from the fields; by default each field goes to the property of its name. */
  readonly input?: (visit: Visit, fields: Fields) => Frozen<Static<I>> | Promise<Frozen<Static<I>>>;
  /** What the form says about itself: the version that it showed, or the id of what it creates. */
  readonly caller?: (fields: Fields) => Pick<OperationCaller, 'seen' | 'id'>;
  /** For an operation on many things: the page that says what it would do, and asks. Its form sends `confirmed`. */
  readonly confirm?: (visit: Visit, preview: MassPreview, fields: Fields) => PageBody | Promise<PageBody>;
  readonly next: (visit: Visit, value: R, fields: Fields) => Next;
  /** The page of a refusal; undefined for the default one. */
  readonly refused?: (visit: Visit, refusal: Refused, fields: Fields) => Next | undefined;
}

/** Adds the action of a form. Sending a form twice changes nothing the second time. */
export function addForm<I extends TObject, R, N extends object>(
  app: Server,
  deps: RouteDeps & N,
  operation: Operation<I, R, N>,
  face: FormFace<I, R>,
): void {
  const { path, form, names = {}, caller, confirm, next, refused } = face;
  const { input = (visit: Visit, fields: Fields) => inputOf(operation.input, visit, fields, names) } = face;
  addAction(app, deps, {
    path,
    role: operation.role,
    ...(form !== undefined && { form }),
    async run(visit, fields) {
      const ground = { ...deps, now: () => visit.now };
      try {
        const { actor, role } = visit.visitor;
        const by = { actor, role, via: 'page', ...caller?.(fields) } as const;
        const asked = await input(visit, fields);
        if (confirm !== undefined && fieldValue(fields, 'confirmed') !== 'yes')
          return await confirm(visit, await preview(operation, asked, ground, by), fields);
        const value = await perform(operation, asked, ground, by);
        return await next(visit, value, fields);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return (await refused?.(visit, error, fields)) ?? refusalPage(visit, error);
      }
    },
  });
}

function refusalPage({ reader }: Visit, { kind, message, issues }: Refused): PageBody {
  if (kind === 'unknown') return notFoundPage(reader);
  const texts = kind === 'invalid' ? issues.map((issue) => issue.message) : [message];
  const help = html`${texts.map((text) => html`${said(reader, text)} `)}`;
  return messagePage(reader, { status: kind === 'invalid' ? 422 : 409, title: reader.text('error.invalid'), help });
}

/** The input from the path and the fields. Leaves out empty fields. */
function inputOf<I extends TObject>(
  schema: I,
  { param }: Visit,
  fields: Fields,
  names: Readonly<Record<string, string>>,
): Frozen<Static<I>> {
  const read = ([property, part]: readonly [string, TSchema]): readonly [string, unknown][] => {
    const name = names[property] ?? property;
    if (Type.IsBoolean(part)) return [[property, fieldValue(fields, name) !== '']];
    if (Type.IsArray(part)) return [[property, fieldValues(fields, name)]];
    const text = param(name) === '' ? fieldValue(fields, name).trim() : param(name);
    if (text === '') return [];
    return [[property, Type.IsInteger(part) && /^\d{1,15}$/.test(text) ? Number(text) : text]];
  };
  // The operation checks it against its schema.
  return Object.fromEntries(Object.entries<TSchema>(schema.properties).flatMap(read)) as Frozen<Static<I>>;
}
