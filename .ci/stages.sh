# What `.ci/run` and `.ci/long` share: sourced by both, from the project's root. A stage that fails does not hide what the later ones
# have to say; the last line is the tests' own count.
export CI=true
exec </dev/null

reports=reports
mkdir -p "$reports"
rm -f "$reports/jest.json" "$reports"/*.{out,took}
failed=()
durations=()

# What it says is kept as well: of a stage that failed, the end stands at the end.
stage() {
  local name=$1 from=$SECONDS status=0 beside=
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  exec 3> >(tee "$reports/$name.out")
  local tee=$!
  "$@" >&3 2>&1 3>&- || status=$?
  exec 3>&-
  # Until it has written all; not for ever, where somebody was left behind who could still write.
  timeout 5s tail --pid="$tee" -f /dev/null || true
  durations+=("$(printf '%5d s  %s%s' $((SECONDS - from)) "$name" "$beside")")
  if ((status != 0)); then
    failed+=("$name")
    printf '== %s failed with status %d\n' "$name" "$status"
  fi
  return "$status"
}

# Package mirrors are known to fail now and then, and to be well a moment later.
patiently() {
  local attempt
  for attempt in 1 2 3; do
    if "$@"; then return; fi
    if ((attempt < 3)); then sleep $((attempt * 10)); fi
  done
  return 1
}

# The tests look at the Web UI with a browser, speak to the worker from Python, and run a Temporal server and
# the journal on PostgreSQL, and containers on Docker. The model of the journal's protocol is checked by a Java program out of a Python package.
install_tools() {
  local missing=() shell
  if [[ ! -x /usr/bin/chromium ]]; then missing+=(chromium); fi
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then missing+=(python3 python3-venv); fi
  if ! python3 -m pip --version >/dev/null 2>&1; then missing+=(python3-pip); fi
  if ! command -v java >/dev/null; then missing+=(default-jre-headless); fi
  if [[ -z $(compgen -G '/usr/lib/postgresql/*/bin/initdb') ]]; then missing+=(postgresql); fi
  if ! command -v dockerd >/dev/null; then missing+=(docker.io iptables); fi
  for shell in zsh fish; do
    if ! command -v "$shell" >/dev/null; then missing+=("$shell"); fi
  done
  if ! command -v debootstrap >/dev/null; then missing+=(debootstrap); fi
  if ! command -v faketime >/dev/null; then missing+=(faketime); fi
  if ! command -v fiu-run >/dev/null; then missing+=(fiu-utils); fi
  if ((${#missing[@]} > 0)); then
    patiently apt-get -qq update &&
      DEBIAN_FRONTEND=noninteractive patiently apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
  fi
  if ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null; then install_prometheus; fi
}

# Out of the package, which would start one.
install_prometheus() {
  local folder
  folder=$(mktemp -d)
  patiently apt-get -qq update &&
    (cd "$folder" && patiently apt-get -qq download prometheus && dpkg -x prometheus_*.deb .) &&
    install "$folder/usr/bin/promtool" "$folder/usr/bin/prometheus" /usr/local/bin/
  rm -rf "$folder"
}

install_packages() {
  patiently npm ci --no-audit --no-fund --loglevel=error
}

# The Temporal CLI, and the server with its Web UI: built where they have to be.
programs() {
  npx tsx scripts/temporal-cli.ts && npx tsx deploy/stack/programs.ts --ui
}

# Begins what a later stage waits for: `stage <name> ended <name>`, which says how long it took in all.
declare -A besides
beside() {
  local name=$1 from=$SECONDS status=0
  shift
  {
    "$@" || status=$?
    echo $((SECONDS - from)) >"$reports/$name.took"
    exit "$status"
  } >"$reports/$name.log" 2>&1 &
  besides[$name]=$!
}
ended() {
  local status=0
  wait "${besides[$1]}" || status=$?
  cat "$reports/$1.log"
  beside=" ($(<"$reports/$1.took") s beside others)"
  return "$status"
}

# The figure of that name in what Jest wrote.
figure() {
  node -p "require(process.argv[1])[process.argv[2]] ?? 0" "$PWD/$reports/jest.json" "$1"
}

# The ten test files that took longest.
slowest() {
  printf '\n'
  node -e '
    const seconds = ({ endTime, startTime }) => Math.round((endTime - startTime) / 1000);
    const files = require(process.argv[1]).testResults.sort((one, other) => seconds(other) - seconds(one));
    for (const file of files.slice(0, 10)) {
      console.log(`${String(seconds(file)).padStart(5)} s  ${require("path").relative(".", file.name)}`);
    }' "$PWD/$reports/jest.json"
}

finish() {
  local name passed=0 missed=0
  if [[ -f $reports/jest.json ]]; then
    passed=$(figure numPassedTests)
    missed=$(figure numFailedTests)
  fi
  if [[ ${durations[*]} == *' tests'* ]] && ((passed + missed == 0)); then failed+=('no test ran'); fi
  for name in "${failed[@]}"; do
    printf '\n== %s ended with\n' "$name"
    if [[ -f $reports/$name.out ]]; then tail -n 60 "$reports/$name.out"; fi
  done
  if [[ -f $reports/jest.json ]]; then slowest; fi
  printf '\n'
  printf '%s\n' "${durations[@]}"
  if ((${#failed[@]} > 0)); then printf 'failed: %s\n' "${failed[@]}"; fi
  printf '%d passed, %d failed\n' "$passed" "$missed"
  ((${#failed[@]} == 0))
}
