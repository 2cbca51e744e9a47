# syntax=docker/dockerfile:1
# For an image that is the same whenever it is built, name the base by its digest, as a release does:
# --build-arg BASE=node:24-slim@sha256:...
ARG BASE=node:24-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The build needs the install script of no package.
RUN npm ci --ignore-scripts
COPY tsconfig.json rolldown.config.ts ./
COPY src src
COPY providers providers
COPY .ci/trim.js .ci/trim.js
# A tenth of the packages' bytes is ever read.
RUN npm run build && node .ci/trim.js dist /production

FROM ${BASE}
ARG VERSION=0.0.0 REVISION=unknown
LABEL org.opencontainers.image.title="cvrsync" \
  org.opencontainers.image.description="Keeps the companies in HubSpot and Salesforce in step with the Danish company register" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /production/node_modules node_modules
COPY --from=build /app/dist dist
COPY LICENSE ./
# Not under data: a volume that is older, or a folder mounted there, would hide them.
COPY scaffold scaffold
COPY samples samples
# A provider anywhere in the image finds what it imports: COPY my-provider /plugins/my-provider, and name its file in `use`.
RUN mkdir /node_modules && ln -s /app /node_modules/cvrsync && ln -s /app/node_modules/typebox /node_modules/typebox
# The program by its name: docker exec cvrsync cvrsync check
RUN chmod +x dist/cvrsync.js && ln -s /app/dist/cvrsync.js /usr/local/bin/cvrsync
# Before VOLUME, so that a new volume belongs to the user the daemon runs as.
RUN mkdir data && chown node:node data
VOLUME /app/data
USER node
# cvrsync.yaml is mounted at /app/cvrsync.yaml or named by CVRSYNC_CONFIG. server.host is 0.0.0.0 where it does not say
# another. The admin listener stays on 127.0.0.1:8081 inside of the container, where the health check asks it. To reach it
# from outside, set admin.host to 0.0.0.0 and admin.exposed to true, and publish it to the host alone: -p 127.0.0.1:8081:8081.
# CVRSYNC_ADMIN_PORT is for the health check: admin.port, if it is not 8081. A first start without a configuration listens there; to
# reach it from outside, set CVRSYNC_ADMIN_HOST to 0.0.0.0 and publish it to the host alone (docs/setup.md).
ENV CVRSYNC_ADMIN_PORT=8081 CVRSYNC_SERVER_HOST=0.0.0.0
# As the first line of src/cvrsync.js has them.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.CVRSYNC_ADMIN_PORT}/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "/app/dist/cvrsync.js"]
CMD ["serve"]
