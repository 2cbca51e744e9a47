# syntax=docker/dockerfile:1
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json rolldown.config.ts ./
COPY src src
COPY providers providers
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY LICENSE ./
# Not under data: a volume that is older, or a folder mounted there, would hide it.
COPY scaffold scaffold
COPY data/samples data/samples
# Before VOLUME, so that a new volume belongs to the user the daemon runs as.
RUN chown -R node:node data
VOLUME /app/data
USER node
# In a container the daemon must listen on all addresses: set server.host to 0.0.0.0 in cvrsync.yaml, which is mounted
# at /app/cvrsync.yaml or named by CVRSYNC_CONFIG. The admin listener stays on 127.0.0.1:8081 inside of the container,
# where the health check asks it. To reach it from outside, set admin.host to 0.0.0.0 and admin.exposed to true, and
# publish it to the host alone: -p 127.0.0.1:8081:8081.
# CVRSYNC_ADMIN_PORT is for the health check alone: admin.port, where it is not 8081.
ENV CVRSYNC_ADMIN_PORT=8081
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.CVRSYNC_ADMIN_PORT}/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=4", "/app/dist/cvrsync.js"]
CMD ["serve"]
