# The worker, the codec server and the command line in one image:
#   docker build -t order-saga .
#   docker run --init --read-only --cap-drop=ALL --security-opt no-new-privileges --env-file .env order-saga
#   docker run … order-saga dist/codec-server.js
# Nothing is written at run time but into volumes: the workflow bundle is built beforehand.
#
# With --target sandbox: the provider's stand-in, for trying things out.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund

FROM packages AS sandbox
COPY tsconfig.json ./
COPY sandbox ./sandbox
USER 1000
ENTRYPOINT ["node", "--import", "tsx"]
CMD ["sandbox/main.ts"]

FROM packages AS build
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# Owned by root: the process can read its own code and change none of it.
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Where a worker keeps what it has seen of the journal (JOURNAL_WITNESS_FILE): a volume that is mounted here gets this owner.
RUN install --directory --owner=1000 --group=1000 /var/lib/order-saga
# The image's user `node`, by number: Kubernetes can tell that it is not root.
USER 1000
ENTRYPOINT ["node"]
CMD ["dist/worker.js"]
