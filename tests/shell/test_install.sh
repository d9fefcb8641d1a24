#!/bin/sh
# Installs into an empty directory, then builds and runs programs against the installed tree alone.
set -u
passed=0 failed=0
expect() { # WHAT COMMAND...: counts, and shows what a failing command printed
    what=$1; shift
    if "$@" > "$tree/log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $what"; cat "$tree/log"; fi
}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
build=${KILN_BUILD:-build}
build=${build#"$PWD"/}
prefix=$tree/usr/local
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"

expect 'make install' make --no-print-directory install BUILD="$build" DESTDIR="$tree" PREFIX=/usr/local
# The tree is used where it lies, as a package's staging area would be: DESTDIR stands before every path.
sed -i "s|^prefix=.*|prefix=$prefix|; s|^libdir=.*|libdir=\${prefix}/lib|" "$PKG_CONFIG_PATH/kiln.pc"
expect 'the library has its three names' test -e "$prefix/lib/libkiln.so"
expect 'pkg-config finds it' pkg-config --exists kiln
expect 'every header is installed' sh -c "cd include && find . -name '*.h' | while read -r h; do test -e $prefix/include/\$h || exit 1; done"
expect 'the archive defines kn_ names alone' sh -c "test -z \"\$(nm -g --defined-only $prefix/lib/libkiln.a | awk 'NF == 3 && \$3 !~ /^kn_/')\""

if [ -e include/kiln.h ]; then
    cat > "$tree/program.c" << 'C'
#include <kiln.h>
#include <stdio.h>
int main(void)
{
    KN_SCOPE(s);
    kn_array x = kn_arange(0, 4, 1);
    printf("%g\n", kn_f64(kn_sum(kn_mul(x, x))));
    return kn_scope_status(s) != KN_OK;
}
C
    for cc in gcc clang; do
        command -v $cc > /dev/null || continue
        # shellcheck disable=SC2046
        expect "$cc, shared" $cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$tree/program.c" $(pkg-config --cflags --libs kiln) -o "$tree/program-$cc"
        expect "$cc, static" $cc -std=c17 "$tree/program.c" $(pkg-config --cflags kiln) "$prefix/lib/libkiln.a" -ldl -lm -lpthread -o "$tree/program-$cc-static"
        for p in program-$cc program-$cc-static; do
            expect "$p gives 14" sh -c "test \"\$(LD_LIBRARY_PATH=$prefix/lib $tree/$p)\" = 14"
        done
    done
fi
if [ -e "$build/kiln" ]; then
    expect 'the installed command runs' "$prefix/bin/kiln" info
fi
echo "$passed passed, $failed failed"
test $failed = 0
