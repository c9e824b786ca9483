# Sourced by the scripts in this folder. Artefacts go to dist/, everything else to target/packaging.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

# A value of the workspace, such as `version`.
field() { sed -n "/^\[workspace\.package\]/,/^\[/s/^$1 = \"\(.*\)\"/\1/p" Cargo.toml; }
version=$(field version)
repository=$(field repository)
dist=$root/dist
work=$root/target/packaging
programs=$work/programs
mkdir -p "$dist" "$work"

# Python's build tools, and zig, in a virtual environment.
tools() {
    [ -x "$work/tools/bin/maturin" ] || {
        python3 -m venv "$work/tools"
        "$work/tools/bin/pip" install -q 'maturin>=1.9,<2' ziglang
    }
    export PATH=$work/tools/bin:$PATH
}

# Packs the folder `$work/$1` as dist/$1.tar.gz. The same files always produce the same bytes.
pack() {
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@0 -c "$1" |
        gzip -9n >"$dist/$1.tar.gz"
}
