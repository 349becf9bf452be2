# shellcheck shell=bash
# For the scripts in this folder: one line per check, and the result at the end.

# shellcheck disable=SC2034 # used by the scripts
ROOT=$(dirname "$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")")
PYTHON=${PYTHON:-/usr/bin/python3}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/pushfleet-script.XXXXXX")
CHECKS_FAILED=0

# check NAME COMMAND…: runs the command; its output is shown only if it fails.
check() {
    local name=$1
    shift
    if "$@" >"$WORK/.output" 2>&1; then
        printf 'ok %s\n' "$name"
    else
        tail -n 40 "$WORK/.output"
        printf 'FAILED %s\n' "$name"
        CHECKS_FAILED=$((CHECKS_FAILED + 1))
    fi
}

# fails COMMAND…: true if the command fails.
fails() {
    ! "$@"
}

# result: what the script exits with.
result() {
    ((CHECKS_FAILED == 0))
}
