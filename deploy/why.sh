#!/bin/sh
# Says why `docker compose up` did not bring everything up: for each container that is not well, the last of what it said itself.
#
#   sh deploy/why.sh
set -eu

# On its own line: a listing that fails ends this here, and does not look like "all is well".
containers=$(docker compose --profile '*' ps --all --format '{{.Service}} {{.State}} {{.ExitCode}} {{.Health}}')

printf '%s\n' "$containers" |
  while read -r service state status health; do
    case "$state $status $health" in
      'running '*' unhealthy' | 'running '*' starting' | 'restarting '* | 'exited '[1-9]*)
        said=$(docker compose logs --no-color --no-log-prefix --tail 200 "$service" </dev/null | sed '/^[[:space:]]*$/d')
        # Between two restarts it is just starting. PostgreSQL's reason has two lines, and its init repeats itself.
        reason=$(printf '%s\n' "$said" | grep -E 'FATAL|DETAIL|cannot start' | tail -n 2 | sort -ru | tr '\n' ' ')
        printf '%s (%s): %s\n' "$service" "$state" "${reason:-$(printf '%s\n' "$said" | tail -n 1)}"
        ;;
      'created '*) printf '%s was not started: it waits for another one\n' "$service" ;;
    esac
  done
