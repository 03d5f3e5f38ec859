#!/bin/sh
# Prints .env.example with fresh secrets: sh deploy/make-env.sh > .env
set -eu
umask 077

hex() { openssl rand -hex 24; }

sed \
  -e "s|^POSTGRES_PASSWORD=\$|&$(hex)|" \
  -e "s|^JOURNAL_PASSWORD=\$|&$(hex)|" \
  -e "s|^GRAFANA_PASSWORD=\$|&$(hex)|" \
  -e "s|^PAYLOAD_KEYS=\$|&k1:$(openssl rand -base64 32)|" \
  -e "s|^CODEC_TOKEN=\$|&operators:$(hex)|" \
  "$(dirname "$0")/../.env.example"
