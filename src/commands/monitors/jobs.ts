/** `jobs`: manages the third-party jobs of API keys. */
import { createJob, moveJob, removeJob } from '../../operations/service/jobs.ts';
import { listMonitors } from '../../service/monitors/monitors.ts';
import { withService } from '../arguments/with-service.ts';
import { defineCommand, flag, needed, text, UsageError } from '../cli/command.ts';
import { operationCommand, performHere } from '../operations/operation-command.ts';
import { readSettings, settingOptions } from './monitor-options.ts';
import { itemCounts, rowOf, showNew } from './show.ts';

const args = { id: needed('the id of the job, as `jobs list` shows it') };
const keyOption = { key: text('id of the API key it belongs to, as `keys list` shows it', 'id') };
const hint = 'see cvrsync jobs list';

const needKey = (key: string | undefined): string => {
  if (key === undefined)
    throw new UsageError('add --key ID, the API key that the job belongs to: see cvrsync keys list');
  return key;
};

const create = defineCommand({
  name: 'create',
  examples: ['jobs create hubspot --key KEY_ID'],
  operation: createJob.name,
  about: `${createJob.about}; prints the signing secret of its webhook, which cannot be shown again`,
  args: { provider: needed('the name of the external system, as in the paths of its items') },
  options: {
    ...keyOption,
    name: text('the name of the job (default: the provider)'),
    inactive: flag('leave it off until `monitors activate`'),
    ...settingOptions,
  },
  run: (context, { provider }, { key, name, inactive, ...settings }) =>
    withService(context, async (service) => {
      const named = name === undefined ? {} : { name };
      const input = { ...readSettings(settings), ...named, provider, key: needKey(key), enabled: !inactive };
      const job = await performHere(createJob, input, service);
      showNew(context, job, service.options, `The job of ${provider} was created.`);
      return 0;
    }),
});

const list = defineCommand({
  name: 'list',
  examples: ['jobs list'],
  about: 'list the jobs of all keys, or of one',
  options: keyOption,
  run: (context, _args, { key }) =>
    withService(context, async ({ store, secrets, options }) => {
      const filter = { job: true, ...(key !== undefined && { owner: key }) };
      const [jobs, counts] = [await listMonitors(store.db, secrets, filter), await itemCounts(store.db)];
      const rows = jobs.map((job) => {
        const { id, name, ...row } = rowOf(job, counts, options);
        return { id, provider: job.provider, name, key: job.owner, ...row };
      });
      const whose =
        key === undefined ? 'There are no jobs' : `No job belongs to the key ${key} (see cvrsync keys list)`;
      context.output.table(rows, `${whose}: cvrsync jobs create PROVIDER makes one.`);
      return 0;
    }),
});

const move = defineCommand({
  name: 'move',
  examples: ['jobs move JOB_ID --key KEY_ID'],
  operation: moveJob.name,
  about: moveJob.about,
  args,
  options: keyOption,
  run: (context, { id }, { key }) =>
    withService(context, async (service) => {
      const moved = await performHere(moveJob, { id, key: needKey(key) }, service, hint);
      context.output.result(moved, `The job ${id} belongs to the key ${moved.key}.`);
      return 0;
    }),
});

const remove = operationCommand(removeJob, {
  name: 'remove',
  examples: ['jobs remove JOB_ID'],
  args: ['id'],
  hint,
  open: withService,
  show({ output }, done) {
    output.result(done, `The job ${done.id} is removed.`);
  },
});

export const command = defineCommand({
  name: 'jobs',
  about: 'manage third-party jobs: create, list, move, remove',
  commands: [create, list, move, remove],
});
