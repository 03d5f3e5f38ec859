#!/usr/bin/env bash
# Whether models.py fits the schemas, the client is typed throughout, and keeps what needs no server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps -r requirements.txt -r requirements-check.txt
"$folder/bin/python" generate.py --check
"$folder/bin/python" check_client.py
"$folder/bin/mypy" --strict --python-version 3.10 --cache-dir "$folder/mypy" ./*.py
