#!/bin/sh
# Makes the journal's role and its database, where there are none, on the PostgreSQL that PGHOST, PGPORT, PGUSER and PGPASSWORD
# name. The role's password is JOURNAL_PASSWORD, also where it was another one. Run again, it changes nothing else. The tables are
# made by `order-saga journal migrate`.
set -eu
: "${JOURNAL_PASSWORD:?must be set}"

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres <<'SQL'
\getenv password JOURNAL_PASSWORD
select 'create role journal login' where not exists (select from pg_roles where rolname = 'journal') \gexec
alter role journal password :'password';
select 'create database journal owner journal' where not exists (select from pg_database where datname = 'journal') \gexec
revoke connect on database journal from public;
SQL
