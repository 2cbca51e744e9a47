/** What the ingest is measured against: a bare Fastify server that parses the body and answers 204. */
import { fastify } from 'fastify';
import { answerWith } from './child.ts';

export const verbs = {
  /** Listens, and says where. */
  async start(): Promise<string> {
    const server = fastify();
    server.post('/webhook', (_request, reply) => reply.code(204).send());
    return server.listen({ host: '127.0.0.1', port: 0 });
  },
};

answerWith(verbs);
