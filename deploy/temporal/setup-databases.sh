#!/bin/sh
# Makes Temporal's two databases, or brings their schema up to this version's. SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and
# SQL_PASSWORD say where. Run again, it changes nothing; run it before a newer server starts.
set -eu

setup() {
  database=$1
  schema=$2
  temporal-sql-tool --database "$database" create-database
  # A database that has a schema keeps it, and says no to a first one.
  if ! temporal-sql-tool --database "$database" update-schema --schema-name "$schema"; then
    temporal-sql-tool --database "$database" setup-schema --version 0.0
    temporal-sql-tool --database "$database" update-schema --schema-name "$schema"
  fi
}

setup temporal postgresql/v12/temporal
setup temporal_visibility postgresql/v12/visibility
