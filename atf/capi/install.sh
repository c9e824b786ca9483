#!/bin/sh
# Builds libadatrace and installs it with its headers, its pkg-config file and its CMake package:
#     atf/capi/install.sh [--profile PROFILE] PREFIX
# DESTDIR is prepended to PREFIX, as usual, and LIBDIR replaces PREFIX/lib, for example on Debian.
# CARGO_BUILD_TARGET selects a target to cross-compile for. The first build takes a few minutes.
set -eu

profile=release
if [ "${1:-}" = --profile ]; then
    profile=$2
    shift 2
fi
if [ $# -ne 1 ]; then
    echo "usage: install.sh [--profile PROFILE] PREFIX" >&2
    exit 2
fi
case $1 in
    /*) prefix=$1 ;;
    *) prefix=$(pwd)/$1 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
cargo=${CARGO:-cargo}
manifest=$here/Cargo.toml

# Makes cargo print the system libraries needed to link libadatrace.a. Cargo prints them even if
# everything is already built, so the first run shows its progress and only the second is captured.
build() {
    "$cargo" rustc --manifest-path "$manifest" --lib --profile "$profile" "$@" -- \
        --print native-static-libs
}
build
notes=$(build --color never 2>&1)
libs=$(echo "$notes" | sed -n 's/^note: native-static-libs: //p' | tail -n 1)
folder=$profile
[ "$profile" != dev ] || folder=debug
target=$("$cargo" metadata --manifest-path "$manifest" --no-deps --format-version 1 |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}$folder
version=$(sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml")
major=${version%%.*}

libdir=${LIBDIR:-lib}
up=$(echo "$libdir" | sed 's,[^/][^/]*,..,g')
lib=${DESTDIR:-}$prefix/$libdir
include=${DESTDIR:-}$prefix/include/atf
mkdir -p "$lib/pkgconfig" "$lib/cmake/adatrace" "$include"
cp "$here/include/atf.h" "$here/include/atf_record.h" "$here/include/ada_timing.h" "$here/../include/atf_v1.h" \
    "$here/../include/atf_v2.h" "$here/../include/atf_wire.h" "$include/"
cp "$target/libatf_capi.a" "$lib/libadatrace.a"
case $(uname -s) in
    Darwin)
        shared=libadatrace.$major.dylib
        cp "$target/libatf_capi.dylib" "$lib/$shared"
        install_name_tool -id "$prefix/$libdir/$shared" "$lib/$shared"
        link=libadatrace.dylib
        ;;
    *)
        # Cargo cannot assign versions to symbols, so the C compiler links the shared library from
        # the static one.
        shared=libadatrace.so.$major
        printf 'ATF_%s { global: atf_*; ada_*; local: *; };\n' "$major" >"$target/libadatrace.map"
        strip=
        [ "$profile" != release ] || strip=-Wl,--strip-debug # the standard library's
        # shellcheck disable=SC2086 # $libs has several words, $strip one or none.
        "${CC:-cc}" -shared -o "$lib/$shared" -Wl,-soname,"$shared" -Wl,-z,relro,-z,now,-z,nodelete \
            -Wl,--version-script,"$target/libadatrace.map" -Wl,--gc-sections \
            -Wl,--whole-archive "$target/libatf_capi.a" -Wl,--no-whole-archive $libs $strip
        link=libadatrace.so
        ;;
esac
ln -sf "$shared" "$lib/$link"

fill() {
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@VERSION@|$version|g" -e "s|@LIBS@|$libs|g" \
        -e "s|@SHARED@|$shared|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@UP@|$up|g" "$here/$1" >"$2"
}
fill adatrace.pc.in "$lib/pkgconfig/adatrace.pc"
fill adatrace-static.pc.in "$lib/pkgconfig/adatrace-static.pc"
fill adatrace-config.cmake.in "$lib/cmake/adatrace/adatrace-config.cmake"
fill adatrace-config-version.cmake.in "$lib/cmake/adatrace/adatrace-config-version.cmake"
cat <<END
libadatrace $version is in $prefix. To compile a program that has the library inside of it:
    export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
    cc program.c \$(pkg-config --cflags --libs adatrace-static) -pthread
With the shared library, the program must find it when it runs:
    cc program.c \$(pkg-config --cflags --libs adatrace) -Wl,-rpath,$prefix/$libdir -pthread
END
