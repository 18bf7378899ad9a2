# Tests of real programs, real launchers and a real browser run in real time, on machines that others use as well. One of
# them that failed is tried once more, by itself: a fault of the product fails again, a machine that was slow for a moment
# does not. What passes only then is counted as passed, its first failure is shown all the same, and ./deploy/test names it
# at the end. More than a few of them are no moment, and are not tried again.

most_again=3
only_again=()

# The tests that failed by a log, a line each: the file they are in (none for the page's), and their name.
failed_tests() { # LOG
    awk '
        / Running tests\// { file = $2; sub(/.*\//, "", file); sub(/\.rs$/, "", file) }
        /^test .* \.\.\. FAILED \(/ { print "-", $2 }
        /^failures:$/ { on = 1 }
        /^test result: / { on = 0 }
        on && /^    [A-Za-z0-9_:]+$/ { print file, $1 }
    ' "$1"
}

# Tries what failed once more, each by itself, and says how that went; whether all of it passed. What ended without a
# result (a crash, no room on the disk) is no such failure.
pass_again() { # CHECK ONE_TEST
    local log=$logs/$1.log again=$logs/$1-again.log failing file test count status=0
    failing=$(failed_tests "$log")
    count=$(grep -c . <<< "$failing")
    [ "$count" -gt 0 ] && [ "$count" -le "$most_again" ] || return 1
    [ "$(grep -c '^running [0-9]* tests\?$' "$log")" = "$(grep -c '^test result: ' "$log")" ] || return 1
    : > "$again"
    while read -r file test; do
        echo "-- $1 tries again: $test"
        if "$2" "$file" "$test" > "$again.one" 2>&1 < /dev/null && grep -q '^test result: ok. [1-9]' "$again.one"; then
            only_again+=("$1: $test")
            passed=$((passed + 1))
            failed=$((failed - 1))
        else
            echo "-- $1: $test failed again"
            status=1
        fi
        cat "$again.one" >> "$again"
        rm "$again.one"
    done <<< "$failing"
    return "$status"
}
