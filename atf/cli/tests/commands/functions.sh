# patch FILE OFFSET BYTES: overwrites bytes, which are escaped as for printf.
patch() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

# zeros COUNT: prints zeros for patch.
zeros() { printf '\\0%.0s' $(seq "$1"); }

# manifest SESSION NAME HOST_NS:TIME:TIMESCALE…: writes a manifest with the name of function 1 and timing anchors.
manifest() {
    local session=$1 name=$2 anchors= host media scale
    while [ $# -gt 2 ]; do
        IFS=: read -r host media scale <<< "$3"; shift
        anchors="$anchors${anchors:+, }{\"host_time_ns\": $host, \"media_time\": $media, \"media_timescale\": $scale}"
    done
    echo '{"threads": [{"id": 0}], "symbols": [{"function_id": "0x1", "name": "'"$name"'"}],' \
        '"timing_anchors": ['"$anchors"']}' > "$session/manifest.json"
}

# fields KEY…: prints the values of these keys in each line of JSON.
fields() {
    awk -v keys="$*" 'BEGIN { n = split(keys, key, " ") } {
        line = ""
        for (i = 1; i <= n; i++) {
            value = "-"
            if (match($0, "\"" key[i] "\": ?(\"[^\"]*\"|[^],}]*)")) {
                value = substr($0, RSTART, RLENGTH)
                sub(/^[^:]*: ?/, "", value)
                gsub(/"/, "", value)
            }
            line = line (i > 1 ? " " : "") value
        }
        print line
    }'
}

# rows KEY…: the same for each function in the JSON of a report or a comparison.
rows() { tr '{' '\n' | grep function_id | fields "$@"; }

# each ARGUMENTS…: runs atf with each of these arguments, and prints its messages with its output.
each() { for it in "$@"; do echo "atf $it"; atf $it 2>&1; echo "status $?"; done; }

# messages ARGUMENTS…: the same without the output.
messages() { for it in "$@"; do echo "atf $it"; atf $it 2>&1 >/dev/null; echo "status $?"; done; }

# counted: prints how often messages prints each line, except for the arguments.
counted() { grep -v '^atf ' | LC_ALL=C sort | uniq -c; }

# followed ARGUMENTS: runs atf dump, and compares its lines, messages and status with those of atf dump --follow.
followed() {
    local status
    atf dump "$@" > dumped.out 2> dumped; status=$?
    echo "$*: $(wc -l < dumped.out) lines, status $status"
    sort -o dumped dumped
    atf dump --follow "$@" > followed.out 2> followed
    [ $? = $status ] && [ "$(wc -l < followed.out)" = "$(wc -l < dumped.out)" ] || echo differs
    sort followed | diff - dumped; cat dumped
}
