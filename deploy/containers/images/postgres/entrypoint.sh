#!/bin/sh
# What the image documents of POSTGRES_PASSWORD, POSTGRES_USER and POSTGRES_DB: an empty volume becomes a cluster with that user and a
# database of that name, and clients come in over TCP by password. A cluster that is there is left as it is.
set -eu

if [ "$1" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?must be set for a new cluster}"
  user=${POSTGRES_USER:-postgres}
  database=${POSTGRES_DB:-$user}
  password_file=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" >"$password_file"
  initdb --username "$user" --pwfile "$password_file" --auth-local trust --auth-host scram-sha-256
  rm "$password_file"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  # While it is set up, it answers on its socket only.
  pg_ctl -w -o "-c listen_addresses=''" start
  if [ "$database" != postgres ]; then createdb --username "$user" "$database"; fi
  pg_ctl -w -m fast stop
fi
exec "$@" -c "listen_addresses=*"
