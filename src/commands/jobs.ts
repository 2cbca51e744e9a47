/** `jobs`: manages the third-party jobs of API keys. */
import { createJob, moveJob, removeJob } from '../service/monitors/jobs.ts';
import { listMonitors } from '../service/monitors/monitors.ts';
import { withService } from './arguments/with-service.ts';
import { defineCommand, flag, needed, text, UsageError } from './cli/command.ts';
import { readSettings, settingOptions } from './monitors/settings.ts';
import { itemCounts, rowOf, showSecret } from './monitors/show.ts';

const args = { id: needed('the id of the job, as `jobs list` shows it') };
const keyOption = { key: text('id of the API key it belongs to, as `keys list` shows it', 'id') };
const unknown = (id: string): Error => new Error(`there is no job ${id}: see cvrsync jobs list`);

const needKey = (key: string | undefined): string => {
  if (key === undefined)
    throw new UsageError('add --key ID, the API key that the job belongs to: see cvrsync keys list');
  return key;
};

const create = defineCommand({
  name: 'create',
  audit: 'job.create',
  about: 'create the job of a provider; prints its signing secret, which cannot be shown again',
  args: { provider: needed('the name of the external system, as in the paths of its items') },
  options: {
    ...keyOption,
    name: text('the name of the job (default: the provider)'),
    inactive: flag('leave it off until `monitors activate`'),
    ...settingOptions,
  },
  run: (context, { provider }, { key, name, inactive, ...settings }) =>
    withService(context, async ({ store, secrets, wire }) => {
      const named = name === undefined ? {} : { name };
      const input = { ...readSettings(settings), ...named, provider, key: needKey(key), enabled: !inactive };
      if (input.url === undefined) throw new UsageError('add --url URL, the webhook of the provider');
      const job = await store.write((tx) => createJob(tx, input, { secrets, now: Date.now(), options: wire }));
      showSecret(context, job, wire, `The job of ${provider} was created.`);
      return 0;
    }),
});

const list = defineCommand({
  name: 'list',
  about: 'list the jobs of all keys, or of one',
  options: keyOption,
  run: (context, _args, { key }) =>
    withService(context, async ({ store, secrets, wire }) => {
      const filter = { job: true, ...(key !== undefined && { owner: key }) };
      const [jobs, counts] = [await listMonitors(store.db, secrets, filter), await itemCounts(store.db)];
      const rows = jobs.map((job) => {
        const { id, name, ...row } = rowOf(job, counts, wire);
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
  audit: 'job.move',
  about: 'move a job to another key, for example when you replace a key',
  args,
  options: keyOption,
  run: (context, { id }, { key }) =>
    withService(context, async ({ store }) => {
      const to = needKey(key);
      if ((await store.write((tx) => moveJob(tx, id, to, Date.now()))) === undefined) throw unknown(id);
      context.output.result({ id, key: to }, `The job ${id} belongs to the key ${to}.`);
      return 0;
    }),
});

const remove = defineCommand({
  name: 'remove',
  audit: 'job.remove',
  about: 'remove a job with its items; pending deliveries are dropped',
  args,
  run: (context, { id }) =>
    withService(context, async ({ store }) => {
      if (!(await store.write((tx) => removeJob(tx, id, Date.now())))) throw unknown(id);
      context.output.result({ id, removed: true }, `The job ${id} is removed.`);
      return 0;
    }),
});

export const command = defineCommand({
  name: 'jobs',
  about: 'manage third-party jobs: create, list, move, remove',
  commands: [create, list, move, remove],
});
