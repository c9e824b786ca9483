# patch FILE OFFSET BYTES: overwrites bytes, which are escaped as for printf.
patch() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

kit() { atf-conformance "$@"; }

# shown FILE: prints a file whose lines may look like those of a case.
shown() { sed 's/^/  /' "$1"; }

# run ARGUMENTS: grades with a time limit that is long enough for a busy machine; prints neither versions nor times.
run() { kit run --time-limit 60 "$@" | sed '/^kit [0-9]/d; /^20[0-9-]*T/d; /^graded: /d; s/, [0-9.]* s$//'; }

# role NAME ROLE SCRIPT [KEYS]: writes NAME.toml, the manifest of a reader or writer that is one line of shell.
role() {
    local path="'{path}'"; [ "$2" = write ] && path="'{script}', '{out}'"
    echo "$3" > "$1-$2.sh"
    [ -e "$1.toml" ] || printf "protocol = 1\nname = '$1'\nversion = '1'\nwire = [1]\nfeatures = ['index']\n" > "$1.toml"
    printf "$2 = ['sh', '$PWD/$1-$2.sh', $path]\n$4" >> "$1.toml"
}

# reader NAME SCRIPT [KEYS]: the same for a reader. good NAME [KEYS]: a reader that answers correctly.
reader() { role "$1" read "$2" "$3"; }
good() { reader "$1" 'exec atf-conformance testee read "$1"' "$2"; }

# each COMMAND ARGUMENTS…: runs a command with each of these arguments, and prints its output, its messages and its
# status. Usage errors are printed without the advice that follows them.
each() {
    local command=$1; shift
    for it in "$@"; do echo "$it"; $command $it 2>&1 | sed '/^$/,$d'; echo "status $?"; done
}

# report CORPUS CASE-OUTCOME…: prints the JSON report of a run whose cases have these outcomes.
report() {
    local cases= message
    printf '{"format": 2, "editions": {"kit": "0.1.0", "spec": "1.3.0", "rules": "2.3.0", "corpus": "%s"}, ' "$1"; shift
    for it in "$@"; do
        message=; [ "${it#*-}" = failed ] && message="accept, expected reject"
        cases="$cases${cases:+, }{\"testee\": 0, \"role\": \"read\", \"case\": \"${it%-*}\", \"outcome\": \"${it#*-}\", \"message\": \"$message\"}"
    done
    printf '"testees": [{"name": "mine"}], "cases": [%s]}\n' "$cases"
}

# soon COMMAND: waits up to a minute until a command succeeds.
soon() { for _ in $(seq 600); do "$@" && return; sleep 0.1; done; }
