#!/bin/sh
# What is deployed, against the schemas of those who read it; no container engine is needed, but Go and Python are:
#
#   Dockerfile            hadolint
#   docker-compose.yml    the compose specification's own loader
#   kubernetes/           the API's schema, strictly, and the definitions of KEDA, the Prometheus operator and External Secrets, out of
#                         their Go modules; kustomize puts it together, with each component
#   dynamic-config.yaml   the Temporal server, which takes a misspelt key in silence when it only starts
set -eu
cd "$(dirname "$0")/../.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools/python"
"$tools/python/bin/pip" install --quiet --disable-pip-version-check --requirement deploy/check/requirements.txt
GOBIN=$tools go install github.com/compose-spec/compose-go/v2/cmd@v2.16.2
GOBIN=$tools go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.1

"$tools/python/bin/hadolint" Dockerfile

# Variables are left as they are: test/tools/deploy/compose.test.ts knows what they are filled with.
"$tools/cmd" -no-interpolation docker-compose.yml >/dev/null

# An overlay as somebody would write it, beside the base that it takes.
cp -r deploy/kubernetes "$tools/kubernetes"
mkdir "$tools/kubernetes/overlay"
for marks in ', ../high-water-mark' ''; do
  cat >"$tools/kubernetes/overlay/kustomization.yaml" <<OVERLAY
resources: [../base]
components: [../keda, ../monitoring, ../network-policies, ../migration-job, ../external-secrets$marks]
OVERLAY
  "$tools/kustomize" build "$tools/kubernetes/overlay" >"$tools/kubernetes.yaml"
  "$tools/python/bin/kubernetes-validate" --strict --quiet --no-warn "$tools/kubernetes.yaml"
  # Of either kind there is one worker, and KEDA scales that.
  kind=${marks:+StatefulSet}
  grep -qx "kind: ${kind:-Deployment}" "$tools/kubernetes.yaml"
  [ -z "$marks" ] || grep -qx '    kind: StatefulSet' "$tools/kubernetes.yaml"
done

# Of a module only its files are wanted: nothing is built.
folder_of() {
  (cd "$tools" && go mod download -json "$1") | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).Dir"
}
prometheus=$(folder_of github.com/prometheus-operator/prometheus-operator@v0.85.0)/example/prometheus-operator-crd
keda=$(folder_of github.com/kedacore/keda/v2@v2.21.0)/config/crd/bases
secrets=$(folder_of github.com/external-secrets/external-secrets@v1.3.2)/config/crds/bases
"$tools/python/bin/python" deploy/check/custom_resources.py "$tools/kubernetes.yaml" \
  "$prometheus/monitoring.coreos.com_podmonitors.yaml" \
  "$prometheus/monitoring.coreos.com_prometheusrules.yaml" \
  "$prometheus/monitoring.coreos.com_scrapeconfigs.yaml" \
  "$keda/keda.sh_scaledobjects.yaml" \
  "$secrets/external-secrets.io_externalsecrets.yaml"

temporal=$(node scripts/bootstrap.mjs tsx deploy/stack/programs.ts)
# Its status says nothing.
said=$("$temporal/temporal-server" validate-dynamic-config deploy/temporal/dynamic-config.yaml)
case $said in *warning:* | *error:*)
  echo "$said"
  exit 1
  ;;
esac
