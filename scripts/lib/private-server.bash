# shellcheck shell=bash
# Shared by private-rabbitmq and private-redis: processes that belong to a directory.
#
# A process is remembered as a pid file and its start time, so that a pid the kernel has handed to
# somebody else since is never signalled.

PYTHON=${PYTHON:-/usr/bin/python3}

say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is not installed; run scripts/install"
    done
}

# start_time PID: prints the kernel's start time of a living process; fails for a dead one or a zombie.
start_time() {
    local stat
    local -a fields
    # Not $(<file): bash leaves the whole script when that file is missing.
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    read -ra fields <<<"${stat##*) }"
    [[ ${fields[0]} != [ZX] ]] || return 1
    printf '%s\n' "${fields[19]}"
}

# remember NAME PID: writes DIR/NAME and the start time beside it.
remember() {
    local since
    since=$(start_time "$2") || return 1
    printf '%s\n' "$2" >"$DIR/$1"
    printf '%s\n' "$since" >"$DIR/.$1.since"
}

# remembered NAME: prints the pid if exactly that process still runs.
remembered() {
    local pid since
    { read -r pid <"$DIR/$1" && read -r since <"$DIR/.$1.since"; } 2>/dev/null || return 1
    [[ $(start_time "$pid") == "$since" ]] || return 1
    printf '%s\n' "$pid"
}

forget() {
    rm -f "$DIR/$1" "$DIR/.$1.since"
}

# detach LOG COMMAND…: own session, no terminal, none of our open files. Leaves the pid in REPLY.
detach() {
    local log=$1 fd
    shift
    (
        for fd in "/proc/$BASHPID/fd/"*; do
            fd=${fd##*/}
            if ((fd > 2 && fd < 255)); then eval "exec $fd>&-"; fi
        done
        exec setsid "$@"
    ) </dev/null >>"$log" 2>&1 &
    REPLY=$!
}

# end NAME SIGNAL SECONDS: signals the process and waits; after SECONDS it is killed.
end() {
    local pid deadline
    if pid=$(remembered "$1"); then
        kill "-$2" "$pid" 2>/dev/null || true
        # A stopped process would take the signal only after it goes on.
        kill -CONT "$pid" 2>/dev/null || true
        deadline=$((SECONDS + $3))
        while remembered "$1" >/dev/null; do
            if ((SECONDS > deadline)); then
                kill -KILL "$pid" 2>/dev/null || true
            fi
            sleep 0.02
        done
    fi
    forget "$1"
}

# guard_start: called before anything is started, so that no moment is without a guard.
#   With --die-with, a watcher ends the server (and this script, should it still be starting) when that process is gone.
#   Interrupted, this script takes back what it has started.
guard_start() {
    trap 'abandon; exit 130' INT
    trap 'abandon; exit 143' TERM HUP
    [[ -n $DIE_WITH ]] || return 0
    start_time "$DIE_WITH" >/dev/null || die "there is no process $DIE_WITH to live with"
    remember starter "$$"
    if [[ $TEMPORARY == yes ]]; then touch "$DIR/temporary"; fi
    watch_over "$DIE_WITH"
}

# watch_over PID: a small process that sleeps until PID is gone, then kills the server of DIR.
# It waits on a pidfd: no polling, and a zombie counts as gone.
watch_over() {
    local pid=$1
    detach /dev/null "$PYTHON" -c '
import os, select, sys
pid, script, directory = int(sys.argv[1]), sys.argv[2], sys.argv[3]
try:
    poll = select.poll()
    poll.register(os.pidfd_open(pid), select.POLLIN)
    poll.poll()
except ProcessLookupError:
    pass
os.execv(script, [script, "kill", directory, "--orphaned"])
' "$pid" "$(realpath "$0")" "$DIR"
    remember watcher "$REPLY" || true
}

# end_orphan: what the watcher does; it does not end itself.
end_orphan() {
    end starter KILL 5
    forget watcher
    abandon
}

# abandon: ends everything; a temporary directory goes too.
abandon() {
    halt KILL 5
    if [[ -f $DIR/temporary ]]; then rm -rf "$DIR"; fi
}

# halt SIGNAL SECONDS: ends the watcher and the server.
halt() {
    end watcher KILL 5
    end_server "$@"
}

# accepts PORT: true if something listens there.
accepts() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# verb_and_directory ARGS…: sets VERB and DIR from the first two arguments.
verb_and_directory() {
    if [[ ${1-} == --help || ${1-} == -h ]]; then
        usage
        exit 0
    fi
    if (($# < 2)); then
        usage >&2
        exit 2
    fi
    VERB=$1
    DIR=$2
    case $VERB in
        start) mkdir -p "$DIR" ;;
        stop | kill | status) [[ -d $DIR ]] || die "there is no directory $DIR" ;;
        *)
            usage >&2
            exit 2
            ;;
    esac
    DIR=$(realpath "$DIR")
}
