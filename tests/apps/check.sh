#!/bin/bash
# check.sh FOLDER [PROGRAM...]: compiles the programs with both MPI families into FOLDER/openmpi and FOLDER/mpich and
# runs them (or only those named) on 2, 3, 4 and 16 ranks without a recorder. Checks the exit status and the truth,
# and that the truth is the same under both families, apart from the counts of functions that poll.
set -u
sources=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [PROGRAM...]" >&2; exit 2; }
mkdir -p "$1" || exit 2
folder=$(cd "$1" && pwd)
shift
# Not to leave a core file behind for each program that is meant to crash.
ulimit -c 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# More ranks than processors: without yielding 16 ranks take half a minute instead of half a second.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

gcc -std=c11 -Wall -Wextra -Werror -O2 -shared -fPIC -o "$folder/libucx_yield.so" \
    "$sources/support/ucx_yield.c" || exit 1
for family in openmpi mpich; do
    mkdir -p "$folder/$family"
    for source in "$sources"/*.c; do
        "mpicc.$family" -std=c11 -Wall -Wextra -Werror -O2 -g -pthread \
            -o "$folder/$family/$(basename "$source" .c)" "$source" || exit 1
    done
done

run() { # FAMILY RANKS PROGRAM
    if [ "$1" = openmpi ]; then
        timeout 120 mpirun.openmpi -n "$2" "$folder/$1/$3"
    else
        timeout 120 mpiexec.mpich -genv LD_PRELOAD "$folder/libucx_yield.so" -n "$2" "$folder/$1/$3"
    fi
}

failures=0
complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

if [ $# -eq 0 ]; then
    set -- $(cd "$sources" && basename -s .c *.c)
fi
for program in "$@"; do
    for ranks in 2 3 4 16; do
        for family in openmpi mpich; do
            # For a signal Open MPI's launcher ends as a shell would, and MPICH's with the signal's number.
            case $program.$family in
            abort.*) expected=7 ;;
            crash.openmpi) expected=139 ;;
            crash.mpich) expected=11 ;;
            no_mpi.*) expected=5 ;;
            *) expected=0 ;;
            esac
            output=$folder/$family/$program.$ranks
            started=$(date +%s%3N)
            run $family $ranks "$program" >"$output.out" 2>"$output.err" </dev/null
            status=$?
            printf '%-14s %-8s %2d ranks %6d ms\n' "$program" $family $ranks $(($(date +%s%3N) - started))
            [ $status -eq $expected ] || complain "$program $family $ranks: status $status, not $expected"
            if [ "$program" = no_mpi ]; then
                grep -q '^hello$' "$output.out" || complain "$program $family $ranks: no hello"
                continue
            fi
            ends=$ranks
            [ $expected -eq 0 ] || ends=0
            awk -v ranks=$ranks -v ends=$ends -f "$sources/support/check_truth.awk" "$output.out" >"$output.truth" ||
                complain "$program $family $ranks: no consistent truth"
        done
        [ "$program" = no_mpi ] ||
            cmp -s "$folder/openmpi/$program.$ranks.truth" "$folder/mpich/$program.$ranks.truth" ||
            complain "$program $ranks: the families' truths differ"
    done
done
[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "all passed"
