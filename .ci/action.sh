#!/usr/bin/env bash
# Run `turnlint lint` with the inputs of the action, which are in environment variables. No input is read as an option
# or a command: each value is one argument. An invalid value ends the step before turnlint runs.
set -euo pipefail

refuse() {
  echo "turnlint: $1" >&2
  exit 2
}

# Lines without the spaces around them, into the array `lines`; empty ones are left out.
split() {
  lines=()
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    line="${line#"${line%%[![:space:]]*}"}"
    line="${line%"${line##*[![:space:]]}"}"
    [[ -z $line ]] || lines+=("$line")
  done <<<"$1"
}

# An option once a line of its input, each of which must look as its names do.
add() {
  local option=$1 input=$2 form=$3
  split "$4"
  for line in "${lines[@]}"; do
    [[ $line =~ ^($form)$ ]] || refuse "input $input has an invalid value"
    arguments+=("$option=$line")
  done
}

name='[A-Za-z0-9][A-Za-z0-9._-]*'
provider="$name(@$name)?"
arguments=()
add --format format "$name" "${INPUT_FORMAT:-}"
add --provider provider "$provider([ ]*,[ ]*$provider)*" "${INPUT_PROVIDER:-}"
add --select select "$name([ ]*,[ ]*$name)*" "${INPUT_SELECT:-}"
add --ignore ignore "$name([ ]*,[ ]*$name)*" "${INPUT_IGNORE:-}"
add --fail-on fail-on 'error|warning|info|never' "${INPUT_FAIL_ON:-}"
add --output-format output-format "$name" "${INPUT_OUTPUT_FORMAT:-github}"
add --output outputs "$name:[^-].*" "${INPUT_OUTPUTS:-}"
if [[ ${INPUT_OUTPUT_FORMAT:-github} == github && -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  arguments+=("--output=github-summary:$GITHUB_STEP_SUMMARY")
fi
split "${INPUT_PATHS:-.}"
((${#lines[@]})) || refuse 'input paths is empty'
for line in "${lines[@]}"; do
  [[ $line != - ]] || refuse 'input paths names standard input, which an action does not have'
done

code=0
turnlint lint "${arguments[@]}" -- "${lines[@]}" || code=$?
[[ -z ${GITHUB_OUTPUT:-} ]] || echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
