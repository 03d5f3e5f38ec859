#!/bin/sh
# Prints .env.example with fresh secrets: sh deploy/make-env.sh > .env
set -eu
# The shell has made the file, with its own rights, before this runs.
[ ! -f /dev/stdout ] || chmod 600 /dev/stdout

hex() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

sed \
  -e "s|^POSTGRES_PASSWORD=\$|&$(hex)|" \
  -e "s|^JOURNAL_PASSWORD=\$|&$(hex)|" \
  -e "s|^GRAFANA_PASSWORD=\$|&$(hex)|" \
  -e "s|^PAYLOAD_KEYS=\$|&k1:$(head -c 32 /dev/urandom | base64)|" \
  -e "s|^CODEC_TOKEN=\$|&operators:$(hex)|" \
  "$(dirname "$0")/../.env.example"
